"""How a function that only compiled code calls is compiled: as a part of its callers.

Numba makes every function ready to be called from Python: it wraps it, links all that it calls into
it, optimises the whole and translates it to machine code. For the hundred and more functions of the
tick, each contained in the next, that is most of the work, and nobody ever calls them so. Here they
are typed and simplified only, and written in LLVM's language (see `translation`). Linked, optimised
and turned into machine code are the few that Python does call (`compile.jit(entry=True)`), each
with everything it needs, once.

Further, of Numba's passes only those are run that scalar code needs, and `True` or `3` as an
argument is a boolean or an integer like any other, not a type with a function compiled for it. No
memory is managed: a function that would have to allocate does not compile.

Called from Python, such a function runs as Python.
"""

from __future__ import annotations

from typing import Any

from llvmlite import binding
from numba import _dynfunc, types  # pyright: ignore[reportAttributeAccessIssue]
from numba.core import typed_passes, untyped_passes
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, Flags, _LowerResult
from numba.core.compiler_machinery import PassManager, register_pass
from numba.core.environment import Environment
from numba.core.funcdesc import PythonFunctionDescriptor
from numba.core.registry import CPUDispatcher
from numba.core.runtime.nrt import rtsys

from ur_admittance.kernel.translation import Translation, Typed

TRANSLATION = Translation()
NO_WRAPPERS = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}


class Inner(CPUDispatcher):
    """A function that compiled code may call."""

    def __init__(self, py_func, locals=None, targetoptions=None) -> None:
        options = {"nopython": True, "_nrt": False, **NO_WRAPPERS, **(targetoptions or {})}
        super().__init__(py_func, locals, options, _Compiler)

    def __call__(self, *args: Any) -> Any:
        return self.py_func(*args)

    def get_call_template(self, args, kws):
        return super().get_call_template([types.unliteral(a) for a in args], kws)

    def compile(self, sig: Any) -> Any:
        existing = self.overloads.get(sig)  # asked for at every call in the source
        return super().compile(sig) if existing is None else existing.entry_point


class _Library(JITCodeLibrary):
    """The code of one function, which waits to be translated and then for someone to link it."""

    def _ensure_finalized(self) -> None:
        """Others may refer to it before it is translated."""

    def _optimize_functions(self, ll_module) -> None:
        """Numba's, without preparing passes for what is only named here."""
        ll_module.data_layout = self._codegen._data_layout
        for function in ll_module.functions:
            if not function.is_declaration:
                passes, builder = self._codegen._function_pass_manager()
                passes.run(function, builder)

    def needs(self) -> list[Any]:
        """The libraries of what it calls."""
        return [one for one in self._linking_libraries if one is not rtsys.library]

    def code(self) -> bytes:
        """What `receive` is given in another process."""
        return self._final_module.as_bitcode()

    def receive(self, code: bytes, needs: list[Any]) -> None:
        """Its translation, made elsewhere."""
        self._final_module = binding.parse_bitcode(code)
        self._linking_libraries = needs

    def _get_module_for_linking(self):
        """This function and all that it calls, each once, and private: so LLVM knows all its
        callers, and puts what is called from one place only into that place.

        Private in the strict sense, without a symbol: LLVM may pass the arguments of such a
        function as it likes, and its loader takes a symbol for the same function wherever it
        finds the name, in the code of another entry, too.
        """
        if self._shared_module is None:
            TRANSLATION.finish()
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
        for library in self.needs():
            if library not in found and library is not self:
                found[library] = None
                if isinstance(library, _Library):
                    library._callees(found)
        return found


@register_pass(mutates_CFG=True, analysis_only=False)
class _Lowering(typed_passes.NativeLowering):
    """Known to its callers from here on, by name; translated later."""

    _name = "inner_lowering"

    def run_pass(self, state) -> bool:
        context, flags = state.targetctx, state.flags
        library = _Library(context.codegen(), state.func_id.func_qualname)
        fndesc = PythonFunctionDescriptor.from_specialized_function(
            state.func_ir,
            state.typemap,
            state.return_type,
            state.calltypes,
            mangler=context.mangler,
            inline=flags.forceinline,
            noalias=flags.noalias,
            abi_tags=[flags.get_mangle_string()],
        )
        # What Numba knows a compiled function by. It has no address, and `Inner` never calls it.
        name, environment = state.func_id.func_name, Environment.from_fndesc(fndesc)
        known_by = _dynfunc.make_function(
            fndesc.lookup_module(), name, "", 0, environment, (library,)
        )
        context.insert_user_function(known_by, fndesc, [library])
        state.library = library
        state["cr"] = _LowerResult(fndesc, None, known_by, environment)
        TRANSLATION.add(Typed(state, fndesc, library))
        return True


class _Flags(Flags):
    """The same flags, compared by what is set instead of option by option: typing one `a + b`
    compares them with those of dozens of implementations.
    """

    __slots__ = ()
    _hash = hash(Flags())  # that of all flags: only the options' names count

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return self._values == other._values if type(other) is _Flags else super().__eq__(other)


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

    def __init__(self, typingctx, targetctx, library, args, return_type, flags, locals) -> None:
        flags = _Flags(flags)
        super().__init__(typingctx, targetctx, library, args, return_type, flags, locals)

    def define_pipelines(self) -> list[PassManager]:
        manager = PassManager("inner")
        for one in self.PASSES:
            manager.add_pass(one, one.__name__)
        manager.finalize()
        return [manager]
