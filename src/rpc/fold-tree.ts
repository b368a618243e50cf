export interface TreeRules<In, Node extends In & object, Out> {
  isNode(value: In): value is Node;
  fields(node: Node): readonly In[];
  leaf(value: In): Out;
  node(node: Node, fields: Out[]): Out;
}

/**
 * Converts a value with its fields, children first. Iterative, because a list is nested as deep as it
 * is long; a node that is shared is converted once.
 */
export function foldTree<In, Node extends In & object, Out>(
  root: In,
  rules: TreeRules<In, Node, Out>,
): Out {
  if (!rules.isNode(root)) return rules.leaf(root);
  const done = new Map<Node, Out>();
  const pending: Node[] = [root];
  const entered = new Set<Node>();
  for (let node = pending.at(-1); node !== undefined; node = pending.at(-1)) {
    const fields = rules.fields(node);
    if (!done.has(node) && !entered.has(node)) {
      entered.add(node);
      for (const field of fields) if (rules.isNode(field) && !done.has(field)) pending.push(field);
      continue;
    }
    pending.pop();
    if (done.has(node)) continue;
    const converted = fields.map((field) =>
      rules.isNode(field) ? (done.get(field) as Out) : rules.leaf(field),
    );
    done.set(node, rules.node(node, converted));
  }
  return done.get(root) as Out;
}
