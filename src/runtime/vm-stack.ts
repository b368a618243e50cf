import type { ExecutableData } from '../bytecode/executable.ts';
import { listingLine } from '../bytecode/text/print-instruction.ts';
import { SourceMap } from '../bytecode/source-map.ts';
import { RuntimeError, WeftError } from '../core/errors.ts';
import { formatPlace, type SourcePlace } from '../core/contracts/source-place.ts';
import type { Frame } from './frame.ts';

/** Innermost frames that an error shows, and outermost ones; a deep recursion repeats itself. */
const INNER_FRAMES = 12;
const OUTER_FRAMES = 4;
/** A kernel may compute dozens of nodes. */
const SHOWN_PLACES = 4;
/** A call may have thousands of arguments. */
const LINE_WIDTH = 200;

/** Names instead of the classes, which would make every worker load all of them. */
const OWN_ERRORS =
  /^(Weft|Format|Verify|Parse|TypeCheck|Shape|Unsupported|CompileLimit|Usage|Runtime|Device|DeviceLost|OutOfMemory|Download|Storage|Worker)Error$/;

/**
 * The error of a program that stopped: of the same class when Weft threw it, else RuntimeError;
 * the thrown error is the cause. The message begins with the place in the source that the instruction comes
 * from; `details.places` has all of them. Message and `details.vmStack` name the calls, innermost first:
 * function, instruction, its line in the listing, and its place.
 */
export function withVmStack(
  thrown: unknown,
  program: ExecutableData,
  frames: readonly Frame[],
): Error {
  const map = sourceMapOf(program);
  const vmStack = stackLines(program, map, frames);
  const said = thrown instanceof Error ? thrown.message : String(thrown);
  const places = placesOf(map, frames.at(-1));
  const calls = callOfBorder(map, frames);
  const declared = formatPlaces(places);
  const text = [formatPlaces(calls), declared].filter(Boolean).join(', declared at ');
  // Checks of shapes name their place themselves.
  const isNamed = places.some((place) => /^[:,]/.test(said.split(formatPlace(place), 2)[1] ?? ''));
  const message = [text === '' || isNamed ? said : `${text}: ${said}`, ...vmStack];
  const details = {
    ...(thrown instanceof WeftError ? thrown.details : {}),
    ...(places.length > 0 && { places: [...calls, ...places].map(formatPlace) }),
    vmStack,
  };
  return new (classOf(thrown))(message.join('\n'), { details, cause: thrown });
}

/** Constructors of other classes may take anything, and pages do not know them. */
function classOf(thrown: unknown): typeof WeftError {
  if (!(thrown instanceof WeftError)) return RuntimeError;
  let known = thrown.constructor as typeof WeftError;
  while (!Object.hasOwn(known, 'errorName')) known = Object.getPrototypeOf(known) as typeof known;
  return OWN_ERRORS.test(known.errorName) ? known : RuntimeError;
}

/** A machine verifies the source map only here; a damaged one must not hide the error. */
function sourceMapOf(program: ExecutableData): SourceMap | undefined {
  try {
    return SourceMap.of(program);
  } catch {
    return undefined;
  }
}

/** Formats the first of many places: `node "conv1", node "relu1" and 7 more`. */
function formatPlaces(places: readonly SourcePlace[]): string {
  const shown = places.slice(0, SHOWN_PLACES).map(formatPlace).join(', ');
  return places.length > SHOWN_PLACES ? `${shown} and ${places.length - SHOWN_PLACES} more` : shown;
}

function placesOf(map: SourceMap | undefined, frame: Frame | undefined): readonly SourcePlace[] {
  if (map === undefined || frame === undefined) return [];
  return map.at(frame.function.source.name, instructionOf(frame));
}

/** Where a function of the host was called whose declaration the innermost frame is. */
function callOfBorder(
  map: SourceMap | undefined,
  frames: readonly Frame[],
): readonly SourcePlace[] {
  return frames.at(-1)?.function.isBorder === true ? placesOf(map, frames.at(-2)) : [];
}

function instructionOf({ pc }: Frame): number {
  return Math.max(0, pc - 1);
}

function stackLines(
  program: ExecutableData,
  map: SourceMap | undefined,
  frames: readonly Frame[],
): string[] {
  const lines: string[] = [];
  for (let depth = frames.length - 1; depth >= 0; depth--) {
    const shown = frames.length - 1 - depth < INNER_FRAMES || depth < OUTER_FRAMES;
    const frame = frames[depth];
    if (shown && frame !== undefined) lines.push(frameLine(program, map, frame));
    else if (depth === OUTER_FRAMES) {
      lines.push(`    … ${frames.length - INNER_FRAMES - OUTER_FRAMES} more`);
    }
  }
  return lines;
}

function frameLine(program: ExecutableData, map: SourceMap | undefined, frame: Frame): string {
  const { name } = frame.function.source;
  const index = instructionOf(frame);
  const found = listingLine(program, name, index);
  const place = `    at ${name}, instruction ${index}`;
  if (found === undefined) return place;
  const { line, text } = found;
  const shown = text.length > LINE_WIDTH ? `${text.slice(0, LINE_WIDTH)}…` : text;
  const places = formatPlaces(placesOf(map, frame));
  return `${place} (line ${line})${places === '' ? '' : `, from ${places}`}: ${shown}`;
}
