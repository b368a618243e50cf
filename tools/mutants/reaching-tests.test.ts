import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ReachingTests, type Tier } from './reaching-tests.ts';

const FILES = {
  'index.html': '<script type="module" src="/src/demo/main.ts"></script>',
  'playground.html': '<script type="module" src="/src/playground/main.ts"></script>',
  'src/demo/main.ts':
    "void import('./draw.ts'); import '../inspector/step.ts'; import '../core/a.ts';",
  'src/demo/draw.ts': "new Worker(new URL('./write-worker.ts', import.meta.url));",
  'src/demo/write-worker.ts': "import type { A } from '../core/types.ts';",
  'src/demo/nobody.ts': '',
  'src/playground/main.ts': '',
  'src/inspector/step.ts': '',
  'src/inspector/step.test.ts': "import './step.ts';",
  'src/core/a.ts': '',
  'src/core/a.test.ts': "import './a.ts';",
  'src/core/a.long.test.ts': "import './a.ts';",
  'src/core/types.ts': '',
  'e2e/pages/inspector.html': '<script type="module" src="./inspector.ts"></script>',
  'e2e/pages/inspector.ts': "import '../../src/inspector/step.ts';",
  'e2e/smoke.spec.ts': "await page.goto('/'); await page.goto('/playground.html');",
  'e2e/demo.spec.ts': 'await page.goto(`/${search}#draw`);',
  'e2e/inspector.spec.ts': "test.use({ address: '/e2e/pages/inspector.html' });",
  'scripts/a.ts': '',
  'tools/a.ts': '',
  'bench/a.ts': '',
};

let root: string;
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'weft-mutants-'));
  for (const [name, text] of Object.entries(FILES)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
  }
});
afterAll(() => rmSync(root, { recursive: true }));

const SMOKE = 'e2e/smoke.spec.ts';

test.each<[string, Tier, string[]]>([
  ['src/core/a.ts', 'test', ['src/core/a.test.ts']],
  ['src/core/a.ts', 'all', ['src/core/a.long.test.ts']],
  ['src/core/types.ts', 'test', []],
  ['src/demo/write-worker.ts', 'test', [SMOKE]],
  ['src/demo/write-worker.ts', 'all', ['e2e/demo.spec.ts']],
  ['src/demo/nobody.ts', 'test', []],
  ['src/playground/main.ts', 'test', [SMOKE]],
  ['src/playground/main.ts', 'all', []],
  ['src/inspector/step.ts', 'test', ['src/inspector/step.test.ts', SMOKE]],
  ['src/inspector/step.ts', 'all', ['e2e/demo.spec.ts', 'e2e/inspector.spec.ts']],
])('%s is reached in the tier %s by %j', (file, tier, tests) => {
  expect(new ReachingTests(root).of(file, tier)).toEqual(tests);
});
