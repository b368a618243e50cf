/**
 * Gives a builtin of Node, also in Deno and Bun; undefined in a page. Unlike an import it is nothing
 * that a bundler for pages would look for.
 */
export const nodeBuiltin: NodeJS.Process['getBuiltinModule'] | undefined = (
  globalThis as { process?: Partial<NodeJS.Process> }
).process?.getBuiltinModule;

/** Says of a URL that it is one of a file, and that files can be read here. */
export function isFile(url: string): boolean {
  return nodeBuiltin !== undefined && url.startsWith('file:');
}
