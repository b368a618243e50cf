import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A Markdown file of the repository and its place in the site. */
export interface SitePage {
  /** Relative to the repository: `docs/tasks.md`. */
  readonly source: string;
  /** Relative to the site: `docs/tasks.html`. */
  readonly path: string;
}

/** Files outside docs/ that are pages, too. */
const PROJECT: readonly SitePage[] = [
  { source: 'README.md', path: 'docs/project/readme.html' },
  { source: 'CHANGELOG.md', path: 'docs/project/changelog.html' },
  { source: 'CONTRIBUTING.md', path: 'docs/project/contributing.html' },
  { source: 'SECURITY.md', path: 'docs/project/security.html' },
  { source: 'LICENSE', path: 'docs/project/license.html' },
  { source: 'models/README.md', path: 'docs/project/models.html' },
  { source: 'bench/README.md', path: 'docs/project/benchmarks.html' },
];

/** Where the site has a page. */
export function pathOf(source: string): string {
  const project = PROJECT.find((page) => page.source === source);
  return project?.path ?? source.replace(/README\.md$/, 'index.html').replace(/\.md$/, '.html');
}

/** Every page of the documentation; those of the reference are there once `npm run api` has made them. */
export function findPages(root: string, { withReference = true } = {}): readonly SitePage[] {
  const inFolder = (folder: string): SitePage[] =>
    readdirSync(join(root, folder))
      .filter((name) => name.endsWith('.md'))
      .sort()
      .map((name) => ({ source: `${folder}/${name}`, path: pathOf(`${folder}/${name}`) }));
  const reference = withReference ? inFolder('docs/api') : [];
  return [...inFolder('docs'), ...reference, ...PROJECT];
}

/** Markdown; the license is plain text. */
export function readSource(root: string, { source }: SitePage): string {
  const text = readFileSync(join(root, source), 'utf8');
  return source === 'LICENSE' ? `# License\n\n\`\`\`text\n${text.trimEnd()}\n\`\`\`\n` : text;
}
