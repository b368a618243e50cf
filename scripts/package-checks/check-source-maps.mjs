import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { isOfOtherPackage } from '../packages/write-maps.mjs';
import { npm, pack } from './pack-and-install.mjs';
import { run } from './run.mjs';

/** The bundler's own lines have no source. */
const RUNTIME = /rolldown-runtime-[\w-]+\.js$/;
/** The worker's files as texts, and the chunks for service workers: the files that they are copies of have maps. */
const COPIES = /^(?:weft-worker-texts|static(?:-\w+)*)\.js$/;
const COMMENT = /^\/\/# sourceMappingURL=(.+)$/m;

/** Complaints about maps in the package itself, and about code that leads to no source where the package of maps is installed. */
export async function checkSourceMaps({ root, folder, manifest, installed }) {
  const dist = join(installed, 'dist');
  const names = readdirSync(dist, { recursive: true, encoding: 'utf8' });
  const files = names.filter((name) => name.endsWith('.js'));
  const complaints = [
    ...names.filter((name) => name.endsWith('.map')),
    ...files.filter((name) => COMMENT.test(readFileSync(join(dist, name), 'utf8'))),
  ].map((name) => `dist/${name} is or asks for a source map, which weft-vm-maps has`);
  npm(
    ['install', pack(join(root, 'dist-packages/maps'), folder).tarball, '--no-audit', '--no-fund'],
    folder,
  );
  const { isGood, output } = await run('npx', [`${manifest.name}-maps`], { cwd: folder });
  console.log(output);
  if (!isGood) return [...complaints, `npx ${manifest.name}-maps failed: ${output}`];
  let mapped = 0;
  for (const name of files) {
    const file = join(dist, name);
    const code = readFileSync(file, 'utf8');
    const address = COMMENT.exec(code)?.[1];
    if (address === undefined) {
      if (!isListOfExports(code) && !RUNTIME.test(name) && !COPIES.test(name))
        complaints.push(`dist/${name} has no source map`);
      continue;
    }
    mapped++;
    const map = join(file, '..', address);
    const complaint = existsSync(map) ? complaintOf(JSON.parse(readFileSync(map, 'utf8'))) : 'lost';
    if (complaint !== undefined) complaints.push(`dist/${relative(dist, map)}: ${complaint}`);
  }
  console.log(`source maps: ${mapped} of ${files.length} files of dist/`);
  return complaints;
}

/** Nothing is to be mapped where a file only passes on what others hold. */
function isListOfExports(code) {
  const statements = code.replaceAll(/\/\*[^]*?\*\/|^\/\/.*$/gm, '').split(';');
  return statements.every((text) => /^\s*(?:$|import\s*["'{]|export\s*\{)/.test(text));
}

/** The package holds no sources of its own beside the maps, so that they have to be inside. */
function complaintOf({ sources, sourcesContent, mappings }) {
  if (mappings === '') return 'maps nothing';
  const lost = sources.filter(
    (source, i) => !isOfOtherPackage(source) && typeof sourcesContent?.[i] !== 'string',
  );
  return lost.length > 0 ? `has no text of ${lost.slice(0, 3).join(', ')}` : undefined;
}
