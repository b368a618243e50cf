// Prepares a release: `npm run release -- VERSION`. Checks the repository, runs every test, sets the version, builds the
// site and packs. It commits, tags and publishes nothing; its last lines say how.
//
//     --repository URL     where the sources are: written into package.json, as `bugs` is; once is enough
//     --homepage URL       where dist-site/ will be: the README that is packed leads there; once is enough
//     --no-checks          leaves out the tests, and the checks of the site
//     --dry-run            only says what is not ready
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const root = fileURLToPath(new URL('..', import.meta.url));
const read = (file) => readFileSync(join(root, file), 'utf8');
const git = (...args) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();
const npm = (...args) => {
  console.log(`> npm ${args.join(' ')}`);
  execFileSync('npm', args, { cwd: root, stdio: 'inherit', env: { ...process.env, CI: 'true' } });
};

const { positionals, values: options } = parseArgs({
  allowPositionals: true,
  options: {
    repository: { type: 'string' },
    homepage: { type: 'string' },
    'no-checks': { type: 'boolean', default: false },
    'dry-run': { type: 'boolean', default: false },
  },
});
const [version] = positionals;

/** The addresses of package.json, with those of the command line in their place. */
function addresses({ repository, homepage } = JSON.parse(read('package.json'))) {
  const source = options.repository ?? repository?.url.replace(/^git\+|\.git$/g, '');
  return { source, homepage: options.homepage ?? homepage };
}

/** Numbers of a version, for comparing. */
const numbersOf = (text) => text.split(/[.-]/).slice(0, 3).map(Number);
const isLater = (a, b) => {
  const [first, second] = [numbersOf(a), numbersOf(b)];
  const at = first.findIndex((number, i) => number !== second[i]);
  return at >= 0 && first[at] > second[at];
};

/** Reasons why the release is not ready. */
function complaints() {
  if (!/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version ?? '')) {
    return [`got version ${version}, expected one such as 0.2.0: npm run release -- 0.2.0`];
  }
  const found = [];
  const changes = git('status', '--porcelain');
  if (changes !== '') found.push(`got changes that are not committed, expected none:\n${changes}`);
  const tags = git('tag', '--list', 'v*').split('\n').filter(Boolean);
  if (tags.includes(`v${version}`)) found.push(`got a tag v${version}, expected none`);
  const { version: current } = JSON.parse(read('package.json'));
  const isFirst = tags.length === 0 && version === current;
  if (!isFirst && !isLater(version, current)) {
    found.push(`got version ${version}, expected one after ${current}`);
  }
  const dated = new RegExp(
    `^## ${version.replaceAll('.', '\\.')} \\(\\d{4}-\\d{2}-\\d{2}\\)$`,
    'm',
  );
  if (!dated.test(read('CHANGELOG.md'))) {
    found.push(`CHANGELOG.md: got no heading "## ${version} (YYYY-MM-DD)", expected one`);
  }
  for (const [name, address] of Object.entries(addresses())) {
    const option = name === 'source' ? 'repository' : name;
    if (!/^https:\/\/./.test(address ?? '')) {
      found.push(`${option}: got ${address}, expected an address: --${option} https://…`);
    }
  }
  return found;
}

const found = complaints();
for (const complaint of found) console.error(complaint);
if (found.length > 0) process.exit(1);
if (options['dry-run']) {
  console.log(`${version} is ready to be built`);
  process.exit(0);
}

/** Sets the version in a manifest, and fields beside it. */
function setVersion(file, fields = {}) {
  const manifest = JSON.parse(read(file));
  const own = manifest.packages?.[''] ?? manifest;
  if (own.name !== 'weft-vm') throw new Error(`${file} is not that of weft-vm`);
  Object.assign(manifest, { version }, fields);
  own.version = version;
  writeFileSync(join(root, file), `${JSON.stringify(manifest, null, 2)}\n`);
}

const { source, homepage } = addresses();
setVersion('package.json', {
  repository: { type: 'git', url: `git+${source}.git` },
  homepage,
  bugs: `${source}/issues`,
});
setVersion('package-lock.json');
const isChecked = !options['no-checks'];
if (isChecked) npm('test', '--', '--all');
npm('run', 'site', ...(isChecked ? [] : ['--', '--no-checks']));
npm('pack');
npm('pack', './dist-packages/maps', './dist-packages/create-weft');
console.log(`
weft-vm-${version}.tgz, weft-vm-maps-${version}.tgz, create-weft-${version}.tgz and dist-site/ are ready. Then:
  git commit --all --message "release ${version}" && git tag v${version} && git push --follow-tags
  for name in weft-vm weft-vm-maps create-weft; do npm publish $name-${version}.tgz; done
and copy dist-site/ to the host of the site.`);
