"""How a function that only compiled code calls is compiled: as a part of its callers.

Numba makes every function ready to be called from Python: it wraps it, links all that it calls into
it, optimises the whole and translates it to machine code. For the hundred and more functions of the
tick, each contained in the next, that is most of the work, and nobody ever calls them so. Here they
are typed and written in LLVM's language only. Linked, optimised and turned into machine code are
the few that Python does call (`compile.jit(entry=True)`), each with everything it needs, once.

Further, of Numba's passes only those are run that scalar code needs, and `True` or `3` as an
argument is a boolean or an integer like any other, not a type with a function compiled for it.

Called from Python, such a function runs as Python.

This leans on how Numba is made inside, so `compile` imports it with the Numba it was tested with
only; any other compiles the same functions in its own way.
"""

from __future__ import annotations

from typing import Any

from numba import types
from numba.core import typed_passes, untyped_passes
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase
from numba.core.compiler_machinery import PassManager, register_pass
from numba.core.registry import CPUDispatcher
from numba.core.runtime.nrt import rtsys

NO_WRAPPERS = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}


class Inner(CPUDispatcher):
    """A function that compiled code may call."""

    def __init__(self, py_func, locals=None, targetoptions=None) -> None:
        options = {"nopython": True, **NO_WRAPPERS, **(targetoptions or {})}
        super().__init__(py_func, locals, options, _Compiler)

    def __call__(self, *args: Any) -> Any:
        return self.py_func(*args)

    def get_call_template(self, args, kws):
        return super().get_call_template([types.unliteral(a) for a in args], kws)

    def compile(self, sig: Any) -> Any:
        existing = self.overloads.get(sig)  # asked for at every call in the source
        return super().compile(sig) if existing is None else existing.entry_point

    def add_overload(self, cres: Any) -> None:
        self.overloads[tuple(cres.signature.args)] = cres  # and not for calls from Python


class _Library(JITCodeLibrary):
    """The code of one function, which waits for someone to link it."""

    def _ensure_finalized(self) -> None:
        """Others may refer to it as it is."""

    def _get_module_for_linking(self):
        """This function and all that it calls, each once, and private: so LLVM knows all its
        callers, and puts what is called from one place only into that place.

        Private in the strict sense, without a symbol: LLVM may pass the arguments of such a
        function as it likes, and its loader takes a symbol for the same function wherever it
        finds the name, in the code of another entry, too.
        """
        if self._shared_module is None:
            module = self._final_module.clone()
            own = [function.name for function in module.functions if not function.is_declaration]
            for library in self._callees({}):
                inner = isinstance(library, _Library)
                other = library._final_module if inner else library._get_module_for_linking()
                module.link_in(other, preserve=True)
            for function in module.functions:
                if not function.is_declaration:
                    function.linkage = "linkonce_odr" if function.name in own else "private"
            self._shared_module = module
        return self._shared_module

    def _callees(self, found: dict[Any, None]) -> dict[Any, None]:
        for library in self._linking_libraries:
            if library not in found and library is not self and library is not rtsys.library:
                found[library] = None
                if isinstance(library, _Library):
                    library._callees(found)
        return found


@register_pass(mutates_CFG=True, analysis_only=False)
class _Lowering(typed_passes.NativeLowering):
    """Numba's, without an address for the result: its callers know it by a thing like any other."""

    _name = "inner_lowering"

    def run_pass(self, state) -> bool:
        context = state.targetctx
        state.library = _Library(context.codegen(), state.func_id.func_qualname)
        state.flags.no_compile = True
        super().run_pass(state)
        lowered, known_by = state["cr"], object()
        context.insert_user_function(known_by, lowered.fndesc, [state.library])
        state["cr"] = lowered._replace(cfunc=known_by)
        return True


class _Compiler(CompilerBase):
    """What scalar code needs of Numba's passes."""

    PASSES = (
        untyped_passes.TranslateByteCode,
        untyped_passes.FixupArgs,
        untyped_passes.IRProcessing,
        untyped_passes.GenericRewrites,  # constant places in tuples
        untyped_passes.ReconstructSSA,
        typed_passes.NopythonTypeInference,
        typed_passes.PreLowerStripPhis,
        typed_passes.InlineOverloads,
        typed_passes.IRLegalization,
        typed_passes.AnnotateTypes,
        _Lowering,
        typed_passes.NoPythonBackend,
    )

    def define_pipelines(self) -> list[PassManager]:
        manager = PassManager("inner")
        for one in self.PASSES:
            manager.add_pass(one, one.__name__)
        manager.finalize()
        return [manager]
