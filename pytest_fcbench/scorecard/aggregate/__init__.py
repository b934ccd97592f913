"""From Records to scores, intervals, costs and rates."""
