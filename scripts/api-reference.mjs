// Writes docs/api/, the reference of every entry of the package, from the docstrings in src/: pages of the
// site, which are not committed. Fails for links in docstrings that lead nowhere. That every public symbol has
// a docstring is what api-reference/find-undocumented.ts checks.
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { SOURCES } from './build-declarations.mjs';
import { installDependencies } from './install-dependencies.mjs';
import { writeOperators } from './write-operators.mjs';

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

/** How pages look: one for each entry, which lists its names, and one for each name. */
const WRITING = {
  plugin: [join(tools, 'node_modules/typedoc-plugin-markdown/dist/index.js')],
  outputFileStrategy: 'members',
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
  indexFormat: 'table',
  pageTitleTemplates: { member: ({ name }) => name },
};

/** The name by which pages import an entry: `weft-vm/rpc/nats`. Those of service workers have the same declarations. */
function specifierOf(entry) {
  const [path] = Object.entries(exports).find(
    ([path, { types }]) => types === `./dist/${entry}.d.ts` && !path.startsWith('./static'),
  );
  return `${name}${path.slice(1)}`;
}

if (!installDependencies(tools)) process.exit(1);
await writeOperators();
const typedoc = await import('./package-checks/node_modules/typedoc/dist/index.js');
const app = await typedoc.Application.bootstrapWithPlugins({ ...READING, ...WRITING });
const project = await app.convert();
if (project === undefined) throw new Error('TypeDoc could not read the sources; see above.');
for (const [entry, source] of Object.entries(SOURCES)) {
  project.getChildByName([source.replace(/\/index$/, '')]).name = specifierOf(entry);
}
app.validate(project);
rmSync(reference, { recursive: true, force: true });
await app.outputs.writeOutput({ name: 'markdown', path: reference }, project);
const isGood = !app.logger.hasErrors() && !app.logger.hasWarnings();
console.log(`API reference: ${readdirSync(reference).length} pages in docs/api/`);
if (!isGood) console.error('TypeDoc complains; see above.');
process.exitCode = isGood ? 0 : 1;
