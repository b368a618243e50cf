import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';

import { canonicalDomain, MICROSOFT } from './operator-sets.ts';
import { IMPORTERS } from '../operators/index.ts';
import { readMessage } from '../protobuf/read-message.ts';
import type { Message } from '../protobuf/schema.ts';
import { Refusals } from '../refusals.ts';
import { describeNode, operatorName } from './sort-nodes.ts';

/** Fields of ModelProto and GraphProto. */
const [GRAPH, NODE, INITIALIZER] = [7, 1, 5];

type NodeProto = Message<'NodeProto'>;

/**
 * Looks at the nodes in the first bytes of an ONNX model, which stand before its weights. True when all of them were
 * there, false when the model needs more bytes for that. Throws UnsupportedError that lists those of ONNX's and
 * Microsoft's domains that Weft does not have, as `importOnnx` does of a whole model, FormatError for a damaged node.
 * `names` gets the values that nodes read and make.
 */
export function checkOnnxHead(head: Uint8Array, names = new Set<string>()): boolean {
  const refusals = new Refusals();
  const isWhole = eachNode(head, (node) => lookAt(node, refusals, names));
  refusals.throwIfAny();
  return isWhole;
}

function lookAt(node: NodeProto, refusals: Refusals, names: Set<string>): void {
  for (const name of [...node.input, ...node.output]) names.add(name);
  const domain = canonicalDomain(node.domain);
  // Of other domains a function further behind may say what the node means.
  const isOwn = domain === '' || domain === MICROSOFT;
  if (isOwn && IMPORTERS.get(domain)?.has(node.opType ?? '') !== true) {
    refusals.addUnknownOperator(describeNode(node), operatorName(node));
  }
  for (const { g } of node.attribute)
    for (const inner of g?.node ?? []) lookAt(inner, refusals, names);
}

/**
 * Shows the nodes of the graph in order, as long as there are bytes. Returns true if initializers or
 * the end of the graph came before the bytes ran out.
 */
function eachNode(head: Uint8Array, show: (node: NodeProto) => void): boolean {
  const reader = new BinaryReader(head);
  let end = Infinity;
  try {
    while (reader.pos < Math.min(end, head.byteLength)) {
      const [number, wire] = reader.tag();
      const isGraph = end < Infinity;
      if (!isGraph && number === GRAPH && wire === WireType.LengthDelimited) {
        const byteLength = reader.uint32();
        end = reader.pos + byteLength;
        continue;
      }
      if (isGraph && number === INITIALIZER) return true;
      if (isGraph && number === NODE && wire === WireType.LengthDelimited) {
        show(readMessage('NodeProto', reader.bytes()));
      } else reader.skip(wire, number);
    }
  } catch (error) {
    // The bytes end in the middle of something.
    if (error instanceof RangeError) return false;
    throw error;
  }
  return reader.pos >= end;
}
