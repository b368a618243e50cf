/** See {@link CompileModeOption.compile}. */
export type CompileMode = 'ahead' | 'on demand';

export const COMPILE_MODES: readonly CompileMode[] = ['ahead', 'on demand'];

/** When devices compile what depends on symbolic sizes; for programs without such it means nothing. */
export interface CompileModeOption {
  /**
   * When the kernels that depend on symbolic sizes are compiled. `ahead`: all before the program is
   * there, so that no call waits for any; the default of a machine. `on demand`: those that a call
   * needs before its first launch, the others one by one while nothing runs; the default of a session,
   * whose first result is there sooner.
   */
  readonly compile?: CompileMode | undefined;
}

/** The default of a session; that of machines and devices is `ahead`. */
export const SESSION_COMPILE_MODE: CompileMode = 'on demand';
