import type { ImportNode } from '../import-node.ts';

/** Attributes that have to be 0. */
export function refuseAttributes(node: ImportNode, names: readonly string[]): void {
  for (const name of names) {
    const value = node.attributes.int(name, 0);
    if (value !== 0) throw node.unsupported(`${name} ${value}`, '0');
  }
}
