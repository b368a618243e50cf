// Before a package is packed: gives README.md the addresses of the site, `homepage` of package.json, since npm shows it
// where no documentation lies beside it. `--restore`, after that, takes them away again. Without a `homepage`, which the
// release script fills, nothing happens: links then lead to the package's own docs/.
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const path = (name) => fileURLToPath(new URL(`../${name}`, import.meta.url));
const README = path('README.md');
const KEPT = path('README.md.unpacked');

/** Where the site has a file of the repository; scripts/site/pages.ts says the same. */
function siteFile(file) {
  if (file.startsWith('docs/')) {
    return file.replace(/README\.md$/, 'index.html').replace(/\.md$/, '.html');
  }
  return `docs/project/${file.replace(/\.md$/, '').toLowerCase()}.html`;
}

/** Markdown whose relative links, and those of pictures, lead to the site. */
export function withAddresses(text, homepage) {
  const base = homepage.endsWith('/') ? homepage : `${homepage}/`;
  return text.replaceAll(/\]\((?![a-z]+:|#)([^)#\s]+)(#[^)\s]*)?\)/g, (_, file, heading = '') => {
    return `](${new URL(siteFile(file), base).href}${heading})`;
  });
}

function main() {
  if (process.argv.includes('--restore')) {
    if (existsSync(KEPT)) renameSync(KEPT, README);
    return;
  }
  const { homepage } = JSON.parse(readFileSync(path('package.json'), 'utf8'));
  if (homepage === undefined) return;
  const text = readFileSync(README, 'utf8');
  writeFileSync(KEPT, text);
  writeFileSync(README, withAddresses(text, homepage));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main();
