import { BUILTIN_PREFIX, LATER_BUILTINS } from '../builtins.ts';
import type { ExecutableData } from '../executable.ts';
import { FORMAT_MINOR, TYPES_MINOR } from './file-format.ts';

/** The lowest version that has what a program uses, so that older readers can read it too. */
export function minorOf({ types, functionTable, primitives }: ExecutableData): number {
  const isNew =
    types !== undefined ||
    functionTable.some(({ name }) => NEW_BUILTINS.has(name)) ||
    primitives.some(({ inPlace }) => inPlace !== undefined);
  return isNew ? FORMAT_MINOR : TYPES_MINOR - 1;
}

const NEW_BUILTINS: ReadonlySet<string> = new Set(
  LATER_BUILTINS.map((name) => BUILTIN_PREFIX + name),
);
