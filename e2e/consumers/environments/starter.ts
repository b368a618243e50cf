import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pack } from '../../../scripts/package-checks/pack-and-install.mjs';
import type { Consumer } from '../consumer.ts';
import type { Lab } from '../lab.ts';

const ROOT = new URL('../../..', import.meta.url).pathname;

/** All that the page loads is its own. */
const POLICY = () => ({
  'content-security-policy':
    "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; img-src 'self' blob:",
});

/** Makes the application of `create-weft` from both tarballs, in a folder far from the repository, and builds it. */
async function createApp(lab: Lab, kind: string, folder: string): Promise<string> {
  const weft = pack(ROOT, folder).tarball;
  const create = pack(join(ROOT, 'dist-packages/create-weft'), folder).tarball;
  const npm = (args: readonly string[], cwd: string) => lab.tool('npm', args, cwd);
  await npm(
    [
      'exec',
      '--yes',
      `--package=${create}`,
      '--',
      'create-weft',
      'app',
      `--${kind}`,
      '--weft',
      weft,
    ],
    folder,
  );
  const app = join(folder, 'app');
  if (!existsSync(join(app, '.gitignore')))
    throw new Error(`no .gitignore: ${readdirSync(app).join(', ')}`);
  // The tool that runs this is in production.
  await npm(['install', '--include=dev', '--no-audit', '--no-fund'], app);
  await npm(['run', 'build'], app);
  return app;
}

/** What `npm create weft` makes. */
export const STARTERS: readonly Consumer[] = ['typescript', 'react'].map((kind) => ({
  name: `npm create weft --${kind}, from the tarballs`,
  run: async (lab) => {
    const folder = mkdtempSync(join(tmpdir(), 'weft-create-'));
    try {
      const app = await createApp(lab, kind, folder);
      const { origin } = await lab.serve(join(app, 'dist'), POLICY);
      const page = await lab.page(`${origin}/`);
      const answer = page.locator('#answer');
      await answer.filter({ hasText: 'sure' }).waitFor();
      const first = await answer.textContent();
      // A 1, drawn by hand.
      const pad = await page.locator('#pad').boundingBox();
      if (pad === null) throw new Error('the page shows no canvas');
      await page.mouse.move(pad.x + 140, pad.y + 60);
      await page.mouse.down();
      await page.mouse.move(pad.x + 138, pad.y + 220, { steps: 8 });
      await page.mouse.up();
      await answer.filter({ hasText: /^1,/ }).waitFor();
      if (first?.startsWith('7, ') !== true)
        throw new Error(`expected 7 of the picture; got ${first}`);
      return `the picture: ${first}; drawn: ${await answer.textContent()}`;
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
}));
