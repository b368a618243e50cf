import { Executable } from '../../bytecode/index.ts';

/** The forms in which a program can come: each example runs in all of them. */
export const FORMS: readonly [string, (built: Executable) => Executable][] = [
  ['as built', (built) => built],
  [
    'parsed from its listing and read from bytes',
    (built) => Executable.fromBytes(Executable.fromText(built.toText()).toBytes()),
  ],
];
