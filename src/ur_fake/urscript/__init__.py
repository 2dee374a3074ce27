"""URScript, the controller's language: parsed by a grammar, compiled, run in cycles of 2 ms."""

from ur_fake.urscript.compiler import Program, compile_script
from ur_fake.urscript.runtime import Execution
from ur_fake.urscript.tree import ScriptError

__all__ = ["Execution", "Program", "ScriptError", "compile_script"]
