import { Executable } from '../../bytecode/index.ts';

/** The forms in which a program can come: each example runs in all of them. */
export const FORMS: readonly [string, (built: Executable) => Executable][] = [
  ['as built', (built) => built],
  ['read from bytes', (built) => Executable.fromBytes(built.toBytes())],
  ['parsed from its listing', (built) => Executable.fromText(built.toText())],
];
