import { describe } from '../../core/check-options.ts';
import { UsageError } from '../../core/errors.ts';
import { siteOr } from '../call-site.ts';

/** The leaves of a tree, each with its path, such as `layers.0.w`. */
interface NamedLeaf<Leaf> {
  readonly path: string;
  readonly leaf: Leaf;
}

/** The leaves in order: those of objects in the order of their keys. */
export function leavesOf<Leaf>(
  tree: unknown,
  isLeaf: (value: unknown) => value is Leaf,
  path = '',
): NamedLeaf<Leaf>[] {
  if (isLeaf(tree)) return [{ path, leaf: tree }];
  return branchesOf(tree, path).flatMap(([key, branch]) =>
    leavesOf(branch, isLeaf, path === '' ? key : `${path}.${key}`),
  );
}

/** The tree with other leaves. */
export function mapTree<Leaf>(
  tree: unknown,
  isLeaf: (value: unknown) => value is Leaf,
  map: (leaf: Leaf, path: string) => unknown,
  path = '',
): unknown {
  if (isLeaf(tree)) return map(tree, path);
  const branches = branchesOf(tree, path).map(([key, branch]) => {
    const inner = path === '' ? key : `${path}.${key}`;
    return [key, mapTree(branch, isLeaf, map, inner)] as const;
  });
  return Array.isArray(tree) ? branches.map(([, branch]) => branch) : Object.fromEntries(branches);
}

/** Walks two trees at once. Throws UsageError where the second lacks a branch or has one too many. */
export function zipTree<Leaf>(
  tree: unknown,
  isLeaf: (value: unknown) => value is Leaf,
  { given, where }: { readonly given: unknown; readonly where: string },
): (NamedLeaf<Leaf> & { readonly value: unknown })[] {
  const visit = (
    branch: unknown,
    value: unknown,
    path: string,
  ): (NamedLeaf<Leaf> & { readonly value: unknown })[] => {
    if (isLeaf(branch)) return [{ path, leaf: branch, value }];
    const wanted = branchesOf(branch, path);
    const has = isBranch(value) && Array.isArray(value) === Array.isArray(branch);
    const own = has ? Object.keys(value) : [];
    const names = wanted.map(([key]) => key);
    if (!has || own.length !== names.length || !names.every((name) => own.includes(name))) {
      const place = path === '' ? where : `${where}, ${path}`;
      throw new UsageError({
        where: siteOr(place),
        got: has ? describeKeys(own, branch) : describe(value),
        expected: `${describeKeys(names, branch)} for ${place}`,
      });
    }
    const values = value as Readonly<Record<string, unknown>>;
    return wanted.flatMap(([key, inner]) =>
      visit(inner, values[key], path === '' ? key : `${path}.${key}`),
    );
  };
  return visit(tree, given, '');
}

function describeKeys(keys: readonly string[], tree: unknown): string {
  if (Array.isArray(tree)) return `an array of ${keys.length}`;
  return keys.length === 0 ? 'an object without keys' : `an object with ${keys.join(', ')}`;
}

function isBranch(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false;
  return Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype;
}

function branchesOf(tree: unknown, path: string): [string, unknown][] {
  if (isBranch(tree)) return Object.entries(tree);
  throw new UsageError({
    where: siteOr(path === '' ? 'program' : path),
    got: path === '' ? describe(tree) : `${describe(tree)} as ${path}`,
    expected: 'an array of numbers, or objects and arrays of such',
    remedy: tree instanceof Promise ? 'Bodies of programs are not async.' : undefined,
  });
}
