"""Runs the Python client for every line of standard input, a JSON array of arguments."""

import contextlib
import io
import json
import runpy
import sys
import traceback

client = sys.argv[1]
for line in sys.stdin:
    stdout, stderr, code = io.StringIO(), io.StringIO(), 0
    sys.argv = [client, *json.loads(line)]
    with contextlib.redirect_stdout(stdout), contextlib.redirect_stderr(stderr):
        try:
            runpy.run_path(client, run_name="__main__")
        except SystemExit as end:
            # As the interpreter does it: a text is printed, and a number or nothing is the code.
            if isinstance(end.code, str):
                code = 1
                print(end.code, file=stderr)
            else:
                code = end.code or 0
        except BaseException:
            code = 1
            traceback.print_exc()
    print(json.dumps({"code": code, "stdout": stdout.getvalue(), "stderr": stderr.getvalue()}), flush=True)
