// Writes docs/api/, the reference of every entry of the package, from the docstrings in src/. With
// --check it writes nothing, and fails where docs/api/ is not what it would write. Both fail for
// exports and public members without a docstring.
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findUndocumented } from './api-reference/find-undocumented.mjs';
import { SOURCES } from './build-declarations.mjs';
import { installDependencies } from './install-dependencies.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const tools = join(root, 'scripts/package-checks');
const reference = join(root, 'docs/api');
const { name, exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

/** Which parts of the sources become pages. */
const READING = {
  entryPoints: Object.values(SOURCES).map((source) => join(root, `src/${source}.ts`)),
  tsconfig: join(root, 'tsconfig.json'),
  // The stage `types` finds errors, with the compiler of the project.
  skipErrorChecking: true,
  excludeExternals: true,
  excludeInternal: true,
  excludePrivate: true,
  excludeProtected: true,
  disableSources: true,
  sort: ['source-order'],
  sortEntryPoints: false,
  validation: { notExported: false, notDocumented: false, invalidLink: true },
  logLevel: 'Warn',
};

/** How pages look. */
const WRITING = {
  plugin: [join(tools, 'node_modules/typedoc-plugin-markdown/dist/index.js')],
  outputFileStrategy: 'modules',
  flattenOutputFiles: true,
  entryFileName: 'README',
  readme: 'none',
  hidePageHeader: true,
  hideBreadcrumbs: true,
  useCodeBlocks: true,
  // Links number headings of one name otherwise than those who show Markdown do.
  useHTMLAnchors: true,
  parametersFormat: 'table',
  interfacePropertiesFormat: 'table',
  classPropertiesFormat: 'table',
  typeDeclarationFormat: 'table',
  propertyMembersFormat: 'table',
};

/** The name by which programs import an entry: `weft-vm/rpc/nats`. */
function specifierOf(entry) {
  const [path] = Object.entries(exports).find(([, { types }]) => types === `./dist/${entry}.d.ts`);
  return `${name}${path.slice(1)}`;
}

/** Writes the pages into `folder`. Complaints about docstrings. */
async function writeReference(folder) {
  const typedoc = await import('./package-checks/node_modules/typedoc/dist/index.js');
  const app = await typedoc.Application.bootstrapWithPlugins({ ...READING, ...WRITING });
  const project = await app.convert();
  if (project === undefined) throw new Error('TypeDoc could not read the sources; see above.');
  for (const [entry, source] of Object.entries(SOURCES)) {
    project.getChildByName([source.replace(/\/index$/, '')]).name = specifierOf(entry);
  }
  app.validate(project);
  await app.outputs.writeOutput({ name: 'markdown', path: folder }, project);
  const missing = findUndocumented(project, typedoc);
  const complaints = missing.map((symbol) => `${symbol} has no docstring`);
  if (app.logger.hasErrors() || app.logger.hasWarnings()) complaints.push('TypeDoc complains');
  return complaints;
}

const pagesIn = (folder) => (existsSync(folder) ? readdirSync(folder).toSorted() : []);

/** Complaints about pages that are not as they would be written now. */
function compare(written) {
  const names = new Set([...pagesIn(written), ...pagesIn(reference)]);
  const textOf = (folder, page) => {
    const file = join(folder, page);
    return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
  };
  const stale = [...names].filter((page) => textOf(written, page) !== textOf(reference, page));
  return stale.map((page) => `docs/api/${page} is not up to date; run \`npm run api\``);
}

if (!installDependencies(tools)) process.exit(1);
const written = mkdtempSync(join(tmpdir(), 'weft-api-'));
const complaints = await writeReference(written);
if (process.argv.includes('--check')) complaints.push(...compare(written));
else {
  rmSync(reference, { recursive: true, force: true });
  cpSync(written, reference, { recursive: true });
}
rmSync(written, { recursive: true, force: true });
for (const complaint of complaints) console.error(complaint);
console.log(`API reference: ${pagesIn(reference).length} pages, ${complaints.length} complaints`);
process.exitCode = complaints.length > 0 ? 1 : 0;
