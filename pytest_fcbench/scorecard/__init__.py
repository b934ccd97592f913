"""From Records to numbers and words. Everything here is a pure function of Records."""
