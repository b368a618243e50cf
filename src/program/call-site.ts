import { requireCount } from '../core/check-options.ts';
import { formatSpan, type Span } from '../compiler/ir/expr.ts';

/** A function of the public interface. Its caller is the place that errors and nodes name. */
export type Entry = (...args: never[]) => unknown;

interface StackHolder {
  stack?: string | undefined;
}

/** Engines with it leave out of a stack the frames of a function and of what that called. */
const capture = (
  Error as unknown as { captureStackTrace?: (holder: StackHolder, entry: Entry) => void }
).captureStackTrace;

/** `at f (file:///a.ts:1:2)` of V8, `f@https://a/b.js:1:2` of others. */
const FRAME = /(?:^|[\s(@])([^\s()@]+?):(\d+):(\d+)\)?$/;

/** The public function at work. Such calls are synchronous, and nest. */
let outermost: { readonly entry: Entry; span?: Span | undefined } | undefined;

/**
 * Does the work of a function of the public interface. Those that call each other have one place: the call
 * of the outermost one. Throws UsageError for more arguments than it takes.
 */
export function within<T>(
  entry: Entry,
  work: () => T,
  [name, args, most]: readonly [name: string, args: ArrayLike<unknown>, most: number] = ['', [], 0],
): T {
  if (outermost !== undefined) return work();
  outermost = { entry };
  try {
    requireCount(placeOf(name), args, most);
    return work();
  } finally {
    outermost = undefined;
  }
}

/** Does work for a call that is over, whose place this was. */
export function withinAt<T>(entry: Entry, span: Span | undefined, work: () => T): T {
  const outer = outermost;
  outermost = { entry, span };
  try {
    return work();
  } finally {
    outermost = outer;
  }
}

/** Calls a function of the user, whose own calls have places of their own. */
export function callUser<T>(work: () => T): T {
  const outer = outermost;
  outermost = undefined;
  try {
    return work();
  } finally {
    outermost = outer;
  }
}

/** Where the function of the public interface was called that is at work. */
export function callSite(): Span | undefined {
  if (outermost === undefined) return undefined;
  outermost.span ??= spanOfCaller(outermost.entry);
  return outermost.span;
}

/** Where the function of the public interface was called that is at work; `otherwise` where no engine says it. */
export function siteOr(otherwise: string): string {
  return formatSpan(callSite(), otherwise);
}

/** Where a function of the public interface was called, with its name, for checks of its arguments. */
export function placeOf(name: string): () => string {
  return () => {
    const span = callSite();
    return span === undefined ? name : `${formatSpan(span, name)}: ${name}`;
  };
}

function spanOfCaller(entry: Entry): Span | undefined {
  if (capture === undefined) return undefined;
  const holder: StackHolder = {};
  capture(holder, entry);
  for (const frame of (holder.stack ?? '').split('\n')) {
    const [, source, line, column] = FRAME.exec(frame.trim()) ?? [];
    if (source === undefined || source.startsWith('node:')) continue;
    return { source: fileName(source), line: Number(line), column: Number(column) };
  }
  return undefined;
}

/** A path without the scheme, and without what a development server appends. */
function fileName(source: string): string {
  const [path = source] = source.split(/[?#]/);
  return path.startsWith('file://') ? decodeURIComponent(path.slice('file://'.length)) : path;
}
