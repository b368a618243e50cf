import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const src = fileURLToPath(new URL('../../src', import.meta.url));

/** Variables of modules that ship. State belongs to an object; each of these says beside it why it does not. */
const ALLOWED = [
  'client/start/connection.ts: nextCall',
  'client/tools/debug-session.ts: runs',
  'compiler/ir/text/parse.ts: library',
  'compiler/passes/simplify.ts: rules',
  'core/limits/work-meter.ts: inForce',
  'ops/formula/wasm/find-intrinsic.ts: doubles',
  'ops/tables/wasm.ts: rare',
  'program/array-state.ts: leafCount',
  'program/call-site.ts: outermost',
  'program/eager/pending.ts: lastEnd',
  'program/runners/runner.ts: defaults',
  'program/trace.ts: current',
  'rpc/serve.ts: connectionCount',
  'worker/devices/node-gpu.ts: workCount',
];

/** What ships, but for the main files of pages: their variables are the state of the page. */
function productFiles(): readonly string[] {
  const files = readdirSync(src, { recursive: true, encoding: 'utf8' });
  return files.filter(
    (file) =>
      file.endsWith('.ts') &&
      !file.endsWith('.test.ts') &&
      !/(?:^|[/\\])testing[/\\]/.test(file) &&
      !/^(?:demo|playground)[/\\]/.test(file),
  );
}

test('modules have no variables but those that have a reason', () => {
  const found = productFiles().flatMap((file) => {
    const lines = readFileSync(join(src, file), 'utf8').matchAll(/^(?:export )?let (\w+)/gm);
    return Array.from(lines, ([, name]) => `${file.replaceAll('\\', '/')}: ${name}`);
  });
  expect(found.toSorted()).toEqual(ALLOWED);
});
