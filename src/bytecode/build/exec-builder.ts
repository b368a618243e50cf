import { Executable } from '../file/executable-file.ts';
import { ProgramBuilder } from './program-builder.ts';

export type { ExecBuilderOptions } from './program-builder.ts';

/**
 * Builds an executable by hand or from a compiler.
 *
 * ```ts
 * const b = new ExecBuilder();
 * const f = b.function('main', ['x']);
 * const y = f.call('test.add', [f.param('x'), 1]);
 * f.ret(y);
 * const executable = b.build();
 * ```
 */
export class ExecBuilder extends ProgramBuilder {
  /**
   * Checks every function, formalizes, and verifies. The builder can go on and build again. Throws
   * VerifyError.
   */
  build(): Executable {
    return Executable.of(this.assemble());
  }
}
