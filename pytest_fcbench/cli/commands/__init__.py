"""The commands of ``fcbench``, one module each: ``declare_options`` declares it, ``run_command`` runs it."""
