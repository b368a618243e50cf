import { FormatError } from '../../../core/errors.ts';
import type { AttributeProto, NodeProto } from '../protobuf/schema.ts';
import { describeNode } from './sort-nodes.ts';

/**
 * A node of a function with the attributes of the call in the place of references to them. A
 * reference to an attribute that the call leaves out is no attribute. Throws FormatError for a
 * reference outside of a function.
 */
export function resolveAttributeReferences(
  node: NodeProto,
  given: ReadonlyMap<string, AttributeProto> | undefined,
): NodeProto {
  if (!node.attribute.some(refersTo)) return node;
  const attribute = node.attribute.flatMap((written) => {
    const reference = refersTo(written);
    if (reference === undefined) return [written];
    if (given === undefined) {
      throw new FormatError({
        where: describeNode(node),
        got: `attribute '${written.name ?? ''}' that refers to a function's attribute`,
        expected: 'such references only inside functions',
      });
    }
    const value = given.get(reference);
    return value === undefined ? [] : [{ ...value, name: written.name }];
  });
  return { ...node, attribute };
}

function refersTo({ refAttrName }: AttributeProto): string | undefined {
  return refAttrName === '' ? undefined : refAttrName;
}
