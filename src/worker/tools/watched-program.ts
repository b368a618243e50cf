import type { Executable } from '../../bytecode/file/executable-file.ts';
import type { ExecutableData } from '../../bytecode/executable.ts';
import type { HostTensor } from '../../core/tensor/host-tensor.ts';
import type { WatchedRun } from '../../runtime/compare/watched-run.ts';

/** A program of a session, for which its kernels are watched: on a device of this side or on a lent one. */
export interface WatchedProgram {
  readonly executable: ExecutableData;
  /** A run of the session's program on its inputs. */
  readonly run: WatchedRun;
  /** A run of the function `main` of another program, without constants, on the same device. */
  readonly runOf: (program: Executable, inputs: readonly HostTensor[]) => WatchedRun;
}
