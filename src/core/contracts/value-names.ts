/** Metadata of a program that names values of its source, by the nodes or lines that compute them. */
export const VALUE_NAMES = 'values';

/** Names of outputs that exporters derive from that of the node: `conv_output_0`, `conv:0`. */
export const DERIVED = [/^(.+)_output_(\d+)$/s, /^(.+):(\d+)$/s];

/**
 * The names of the outputs of nodes as metadata, without those of single outputs that follow from the names of the nodes;
 * undefined where none is left. An output without a name is empty.
 */
export function valueNamesToJson(
  nodes: Iterable<readonly [source: string, outputs: readonly string[]]>,
): string | undefined {
  const others = [...nodes].filter(
    ([source, outputs]) => outputs.length > 1 || !outputs.every((name) => isDerived(name, source)),
  );
  return others.length === 0 ? undefined : JSON.stringify(Object.fromEntries(others));
}

/** Returns true if the name follows from the node's own, as that of its single output. */
function isDerived(name: string, source: string): boolean {
  if (name === source) return true;
  return DERIVED.some((pattern) => {
    const [, node, number] = pattern.exec(name) ?? [];
    return node === source && number === '0';
  });
}
