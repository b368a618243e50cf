import type { Executable } from '../../bytecode/index.ts';
import { errorHelp } from '../../core/error-help.ts';
import { CompileLimitError, UnsupportedError, UsageError } from '../../core/errors.ts';
import { foldLines } from '../fold-lines.ts';
import type { OpenFlags } from '../open-session.ts';
import { readProgram } from '../files/read-program.ts';
import { writeJson } from '../report.ts';
import { ProgressLine, type Terminal } from '../terminal.ts';
import { type CheckedDevice, checkProgram } from './check-program.ts';
import { formatAnswer } from './format-answer.ts';

export interface AnswerFlags extends Pick<OpenFlags, 'dim' | 'limit'> {
  /** `browser` is refused: nothing is run. */
  readonly device: 'auto' | 'browser' | CheckedDevice;
  /** The memory that the device has for it, in bytes. */
  readonly budget?: number;
  readonly json?: boolean;
}

/**
 * `weft check`: whether a program runs, where, and what it costs, from its file alone. 1 where it does not run, or takes
 * more memory than the budget.
 */
export async function answerCommand(
  path: string,
  flags: AnswerFlags,
  terminal: Terminal,
): Promise<number> {
  const { budget, json = false } = flags;
  if (flags.device === 'browser') {
    throw new UsageError({
      where: 'check',
      got: '--device browser without --verify, which runs nothing',
      expected: '--device auto, host, wasm or webgpu',
      remedy: 'Give --verify to run it in a browser, or --device webgpu.',
    });
  }
  // A page that chooses takes WebGPU wherever there is an adapter.
  const device = flags.device === 'auto' ? 'webgpu' : flags.device;
  const read = await readOrRefuse(path, flags, terminal);
  if (read instanceof Error) {
    const { code, message } = read;
    if (json) {
      const reason = { code, help: errorHelp(read), message };
      writeJson(terminal, 'check', { runs: false, device, reason });
    } else terminal.out(`${path}: does not run\n${message}\n`);
    return 1;
  }
  const answer = await checkProgram(read, { device, budget });
  if (json) writeJson(terminal, 'check', { runs: true, budget, ...answer });
  else terminal.out(foldLines(formatAnswer(path, answer, budget), terminal.columns));
  return answer.memory.fits === false ? 1 : 0;
}

/** The program, or why there is none. Files that are no programs are errors as ever. */
async function readOrRefuse(
  path: string,
  { dim = {}, limit }: AnswerFlags,
  terminal: Terminal,
): Promise<Executable | UnsupportedError | CompileLimitError> {
  const progress = new ProgressLine(terminal);
  try {
    return await readProgram(path, {
      dims: dim,
      compileLimits: limit,
      onProgress: (done, total) => progress.show(`compiling: ${done} of ${total}`),
    });
  } catch (error) {
    if (error instanceof UnsupportedError || error instanceof CompileLimitError) return error;
    throw error;
  } finally {
    progress.clear();
  }
}
