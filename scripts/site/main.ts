import { copyFileSync, readdirSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Browser, chromium, firefox } from 'playwright';
import { CHROMIUM_FLAGS } from '../../e2e/consumers/lab.ts';
import { blocksOf, type DocumentBlock, unmarked } from '../documentation/marked-blocks.mjs';
import { findChromium } from '../find-chromium.mjs';
import { firefoxLaunchOptions, missingFirefox } from '../find-firefox.mjs';
import {
  type InstalledPackage,
  pack,
  packAndInstall,
} from '../package-checks/pack-and-install.mjs';
import { runNode } from '../package-checks/run.mjs';
import { buildSite } from './build-site.ts';
import { checkAccessibility } from './check-accessibility.ts';
import { checkInBrowser, pictureOfDemo } from './check-in-browser.ts';
import { checkLinks } from './check-links.ts';
import { runBlocks } from './run-blocks.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const out = join(root, 'dist-site');

/**
 * `npm run site`: builds dist-site/, the demo with the documentation and the reference beside it, and checks it: every link
 * and heading, every program against the packed package, every page in Chromium at 360 and 1,600 pixels, and with axe-core a page of each
 * kind, in Firefox too.
 *
 *     --built              takes dist/ as it is
 *     --no-blocks          leaves out the programs
 *     --quick              builds it and checks its links, without the package, the programs and the browsers
 *     --no-checks          builds it with the package, and checks nothing
 *     --external           prints the addresses outside the site
 *     --screenshots DIR    pictures of every page
 *     --picture            makes docs/pictures/demo.jpg of what was built, for the README, and checks nothing
 */
export async function main(args: readonly string[] = []): Promise<number> {
  const startedAt = Date.now();
  if (args.includes('--picture')) return takePicture();
  const reference = await runNode([join(root, 'scripts/api-reference.mjs')], { cwd: root });
  if (!reference.isGood) throw new Error(`npm run api failed:\n${reference.output}`);
  const { pages, complaints: wrong } = await buildSite({ root, out });
  const complaints = [...wrong];
  if (!args.includes('--no-checks')) complaints.push(...(await check(pages, args)));
  else rmSync((await addPackage(args.includes('--built'))).folder, { recursive: true });
  for (const complaint of complaints) console.error(complaint);
  const seconds = ((Date.now() - startedAt) / 1000).toFixed(0);
  console.log(`site: dist-site/ in ${seconds} s, ${complaints.length} complaints`);
  return complaints.length === 0 ? 0 : 1;
}

async function check(
  pages: Parameters<typeof checkInBrowser>[0],
  args: readonly string[],
): Promise<readonly string[]> {
  const complaints: string[] = [];
  const links = checkLinks(out);
  complaints.push(...links.complaints);
  console.log(
    `${links.pages} pages, ${links.links} links, ${links.anchors} of them to headings, ` +
      `${links.external.length} addresses outside the site`,
  );
  if (args.includes('--external'))
    for (const address of links.external) console.log(`  ${address}`);

  if (!args.includes('--quick')) complaints.push(...(await checkPages(pages, args)));
  return complaints;
}

/** Puts the package and its starter on the site; throws where it cannot be built. */
async function addPackage(isBuilt: boolean): Promise<InstalledPackage> {
  if (!isBuilt) {
    const { isGood, output } = await runNode([join(root, 'scripts/build.mjs')], { cwd: root });
    if (!isGood) throw new Error(`npm run build failed:\n${output}`);
  }
  const installed = packAndInstall(root);
  const starter = pack(join(root, 'dist-packages/create-weft'), installed.folder);
  copyFileSync(installed.tarball, join(out, 'weft-vm.tgz'));
  copyFileSync(starter.tarball, join(out, 'create-weft.tgz'));
  return installed;
}

/** A camera of coloured squares, for pages that ask for one. */
const CAMERA = ['--use-fake-ui-for-media-stream', '--use-fake-device-for-media-stream'];

function launchChromium(): Promise<Browser> {
  const executablePath = findChromium();
  return chromium.launch({
    args: [...CHROMIUM_FLAGS, ...CAMERA],
    ...(executablePath === undefined ? {} : { executablePath }),
  });
}

async function takePicture(): Promise<number> {
  const browser = await launchChromium();
  await pictureOfDemo({ out, browser }, join(root, 'docs/pictures/demo.jpg'));
  await browser.close();
  return 0;
}

/** What takes browsers and the packed package. */
async function checkPages(
  pages: Parameters<typeof checkInBrowser>[0],
  args: readonly string[],
): Promise<readonly string[]> {
  const complaints: string[] = [];
  const browser = await launchChromium();
  try {
    const at = args.indexOf('--screenshots');
    const screenshots = at < 0 ? undefined : resolve(args[at + 1] ?? 'screenshots');
    complaints.push(...(await checkInBrowser(pages, { out, browser, screenshots })));
    complaints.push(...(await checkForAll(browser)));
    if (!args.includes('--no-blocks')) {
      complaints.push(...(await checkBlocks(browser, args.includes('--built'))));
    }
  } finally {
    await browser.close();
  }
  return complaints;
}

/** In Firefox too, where there is one. */
async function checkForAll(chromiumBrowser: Browser): Promise<readonly string[]> {
  const reason = missingFirefox();
  if (reason !== undefined) {
    console.log(`accessibility in Chromium only: ${reason}`);
    return checkAccessibility({ out, browsers: { chromium: chromiumBrowser } });
  }
  const firefoxBrowser = await firefox.launch(firefoxLaunchOptions());
  try {
    const browsers = { chromium: chromiumBrowser, firefox: firefoxBrowser };
    return await checkAccessibility({ out, browsers });
  } finally {
    await firefoxBrowser.close();
  }
}

/** The programs of all pages that are written by hand; `tsc` checks what the reference is made of. */
function documentBlocks(): readonly DocumentBlock[] {
  const inDocs = readdirSync(join(root, 'docs')).filter((name) => name.endsWith('.md'));
  const files = ['README.md', 'CONTRIBUTING.md', ...inDocs.sort().map((name) => `docs/${name}`)];
  return files.flatMap((file) => blocksOf(root, file));
}

async function checkBlocks(browser: Browser, isBuilt: boolean): Promise<readonly string[]> {
  const blocks = documentBlocks();
  // The site has the package that its pages are checked with.
  const { folder } = await addPackage(isBuilt);
  try {
    const complaints = [
      ...unmarked(blocks),
      ...(await runBlocks(blocks, { root, folder, browser })),
    ];
    const count = (...marks: readonly string[]): number =>
      blocks.filter(({ language, check }) => marks.includes(`${language} ${check}`)).length;
    const fragments = blocks.filter(({ check }) => check === 'fragment').length;
    console.log(
      `${count('ts run', 'html run')} programs run and ${count('ts check')} type-checked against the tarball; ` +
        `${count('sh run')} run by npm run readme; ${fragments} fragments shown only`,
    );
    return complaints;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
