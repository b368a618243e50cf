import type { NodeProto } from '../onnx/protobuf/schema.ts';
import type { GraphNode } from './graph-model.ts';
import { attributeOf } from '../foreign/onnx-attribute.ts';
import { type ElementType, nodeOf, readAttribute, TENSORFLOW } from './protos.ts';

/** Attributes that say nothing which inputs do not, or nothing of results. */
const IGNORED =
  /^(_.*|T|T[a-z].*|N|SrcT|Truncate|Index|use_cudnn_on_gpu|num_args|incompatible_shape_error|index_type|out_type|output_type|sorted|num_split|num|validate_indices|T_threshold|tensor_array_name|clear_after_read|identical_element_shapes|dynamic_size|shape_type|num_elements|is_constant|parallel_iterations|Toutput_types|message|leakyrelu_alpha_unused)$/;

/** The dtype that TensorFlow.js has for one of TensorFlow. */
export function elementType(type: unknown): ElementType {
  if (type === 'DT_BOOL') return 'bool';
  return /^DT_U?INT/.test(String(type)) ? 'int32' : 'float32';
}

/** `^node` and `node:2` without what is around the name. */
export function nodeNameOf(input: string): string {
  return input.replace(/^\^/, '').replace(/:\d+$/, '');
}

/** The name of a value: that of its node for the first one. */
export function valueName(input: string): string {
  return input.replace(/:0$/, '');
}

/** A node of TensorFlow, of whose values the first `count` are read. */
export function tensorflowNode(node: GraphNode, count: number, input = valuesOf(node)): NodeProto {
  const attribute = Object.entries(node.attr).flatMap(([name, given]) => {
    if (IGNORED.test(name)) return [];
    const value = readAttribute(name, given);
    return value === undefined ? [] : [attributeOf(name, value)];
  });
  const output = Array.from({ length: count }, (_, i) =>
    i === 0 ? node.name : `${node.name}:${i}`,
  );
  return nodeOf({ opType: node.op, domain: TENSORFLOW, name: node.name, input, output, attribute });
}

/** The values that a node reads. */
export function valuesOf({ input }: GraphNode): string[] {
  return input.filter((name) => !name.startsWith('^')).map(valueName);
}
