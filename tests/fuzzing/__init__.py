"""Any input is read, judged, shown, or refused in words; never another error, and never without an end.

A target is a test that hypothesis gives its input: strategies, and a law about what is made of them. As a
test each tries few inputs, always the same. For long,

    python -m tests.fuzzing [TARGET ...] --seconds 60 --engine hypothesis|atheris --corpus FOLDER

tries new ones: all targets without a name, else those whose name holds one of the words. Targets are those
of this folder (``@fuzzed``), then every other test that needs input alone (``@given``). ``atheris`` (extra
``fuzz``; there are no wheels for some versions of Python) looks for new coverage of the package; it drives
the same test by hypothesis' ``fuzz_one_input``. What broke a law is kept in FOLDER and tried first by the
next run; it ought to become an ``@example`` or a test where the code is tested.
"""
