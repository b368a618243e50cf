import type { ExecutableData } from '../bytecode/executable.ts';
import { listingLine } from '../bytecode/print-instruction.ts';
import { RuntimeError, WeftError } from '../core/errors.ts';
import type { Frame } from './frame.ts';

/** Innermost frames that an error shows, and outermost ones; a deep recursion repeats itself. */
const INNER_FRAMES = 12;
const OUTER_FRAMES = 4;
/** A call may have thousands of arguments. */
const LINE_WIDTH = 200;

/** Names instead of the classes, which would make every worker load all of them. */
const OWN_ERRORS =
  /^(Weft|Format|Verify|Parse|TypeCheck|Shape|Unsupported|CompileLimit|Usage|Runtime|Device|DeviceLost|OutOfMemory|Download|Storage|Worker)Error$/;

/**
 * The error of a program that stopped: of the same class when Weft threw it, else RuntimeError;
 * the thrown error is the cause. Message and `details.vmStack` name the calls, innermost first:
 * function, instruction, and its line in the listing.
 */
export function withVmStack(
  thrown: unknown,
  program: ExecutableData,
  frames: readonly Frame[],
): Error {
  const vmStack = stackLines(program, frames);
  const message = [thrown instanceof Error ? thrown.message : String(thrown), ...vmStack];
  const details = { ...(thrown instanceof WeftError ? thrown.details : {}), vmStack };
  const typed = new (classOf(thrown))(message.join('\n'), { details });
  Object.defineProperty(typed, 'cause', { value: thrown, configurable: true, writable: true });
  return typed;
}

/** Constructors of other classes may take anything, and pages do not know them. */
function classOf(thrown: unknown): typeof WeftError {
  if (!(thrown instanceof WeftError)) return RuntimeError;
  let known = thrown.constructor as typeof WeftError;
  while (!Object.hasOwn(known, 'errorName')) known = Object.getPrototypeOf(known) as typeof known;
  return OWN_ERRORS.test(known.errorName) ? known : RuntimeError;
}

function stackLines(program: ExecutableData, frames: readonly Frame[]): string[] {
  const lines: string[] = [];
  for (let depth = frames.length - 1; depth >= 0; depth--) {
    const shown = frames.length - 1 - depth < INNER_FRAMES || depth < OUTER_FRAMES;
    const frame = frames[depth];
    if (shown && frame !== undefined) lines.push(frameLine(program, frame));
    else if (depth === OUTER_FRAMES) {
      lines.push(`    … ${frames.length - INNER_FRAMES - OUTER_FRAMES} more`);
    }
  }
  return lines;
}

function frameLine(program: ExecutableData, { function: callee, pc }: Frame): string {
  const { name } = callee.source;
  const index = Math.max(0, pc - 1);
  const found = listingLine(program, name, index);
  const place = `    at ${name}, instruction ${index}`;
  if (found === undefined) return place;
  const { line, text } = found;
  const shown = text.length > LINE_WIDTH ? `${text.slice(0, LINE_WIDTH)}…` : text;
  return `${place} (line ${line}): ${shown}`;
}
