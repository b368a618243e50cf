import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { errorHelp, TROUBLESHOOTING } from '../../src/core/error-help.ts';
import { DeviceLostError, WeftError } from '../../src/core/errors.ts';
import { headingAnchor } from '../site/render-markdown.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const page = readFileSync(join(root, TROUBLESHOOTING.replace(/^weft-vm\//, '')), 'utf8');
const headings = [...page.matchAll(/^## (WEFT\w*)$/gm)].map(([, code = '']) => code);

/** Names of all classes of errors, wherever in src/ they are. */
function errorNames(): readonly string[] {
  const files = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' });
  const sources = files.filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'));
  const declared = /static (?:override )?readonly errorName: string = '(\w+)'/g;
  const names = sources.flatMap((file) =>
    [...readFileSync(join(root, 'src', file), 'utf8').matchAll(declared)].map(
      ([, name = '']) => name,
    ),
  );
  return [...new Set(names)];
}

/** The code that an error of a class with this name has. */
function codeOf(errorName: string): string {
  class Named extends WeftError {
    static override readonly errorName = errorName;
  }
  return new Named('').code;
}

test('every code of an error has a section, and every section a code', () => {
  const codes = errorNames().map(codeOf);
  expect(codes).toContain('WEFT_DEVICE_LOST');
  expect(headings.toSorted()).toEqual(codes.toSorted());
});

test('the help of an error is the address of its section', () => {
  const [, anchor = ''] = errorHelp(new DeviceLostError('gone')).split('#');
  expect(headings.map(headingAnchor)).toContain(anchor);
});
