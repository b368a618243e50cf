import type { Dim } from '../core/dims/dim.ts';
import type { Attributes, TensorTypeOf } from '../core/contracts/primitive-function.ts';
import type { Adjoint } from './adjoint/adjoint.ts';
import type { OpDefinition } from './define-op.ts';
import type { Operands } from './lowering/lowering.ts';
import type { OpReference } from './op-reference.ts';

/** An operator as tables have it: its definition, and what says what it computes. */
export interface Operator<Name extends string = string> extends OpDefinition<Name> {
  /**
   * Its host computation. Absent if a formula, an index map or a composition defines it, and for
   * operators that only WebGPU runs. `'core'`: that which Weft has for its operator of this name, which the host and
   * the compiler load.
   */
  readonly reference?: OpReference | 'core' | undefined;
  /**
   * The meaning of a call, in the language of programs: statements and an expression in which `%name` is the
   * input of that name. The compiler puts it in the place of the call, so that executables need no
   * operator of that name. For `opaque`.
   */
  readonly composition?: ((call: ComposedCall) => string) | undefined;
  /** Its derivatives, for programs that ask for gradients. Absent if a formula says them. */
  readonly adjoint?: Adjoint | undefined;
}

/** A call that a composition takes the place of. */
interface ComposedCall {
  /** Types of its inputs; sizes may be symbols. */
  readonly inputs: Operands<TensorTypeOf<Dim>>;
  /** The type that `infer` gave. */
  readonly output: TensorTypeOf<Dim>;
  /** Complete attributes. */
  readonly attributes: Attributes;
}

/** The table in which devices look up operators. */
export interface OperatorTable {
  /** The operator of a name; undefined where there is none. */
  get(name: string): Operator | undefined;
}
