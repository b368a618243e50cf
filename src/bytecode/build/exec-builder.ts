import { checkOptions } from '../../core/check-options.ts';
import { Executable } from '../file/executable-file.ts';
import { type ExecBuilderOptions, ProgramBuilder } from './program-builder.ts';

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
  constructor(options: ExecBuilderOptions = {}) {
    checkOptions<ExecBuilderOptions>('ExecBuilder', options, { exact: 'boolean' });
    super(options);
  }

  /**
   * Checks every function, formalizes, and verifies. The builder can go on and build again. Throws
   * VerifyError.
   */
  build(): Executable {
    return Executable.of(this.assemble());
  }
}
