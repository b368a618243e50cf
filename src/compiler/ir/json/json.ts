import { FormatError } from '../../../core/errors.ts';
import { HostTensor } from '../../../core/tensor/host-tensor.ts';
import { checkTypeNesting } from '../text/check-nesting.ts';
import type { Expr, FunctionExpr, Module } from '../expr.ts';
import {
  type DataRole,
  type Family,
  type Field,
  fieldNodes,
  fieldsOf,
  fieldValue,
  isDataRole,
  isKey,
  keyOf,
  type Node,
} from './field-table.ts';
import { dataFromJson, dataToJson, describeJson, isRecord, type JsonValue } from './json-data.ts';
import { MAX_TYPE_DEPTH, type TypeDefinition } from '../type.ts';
import { dtypeInfo, isDType } from '../../../core/tensor/dtype.ts';

/** Bytes that become characters in one go: a call has at most so many arguments. */
const CHUNK_BYTES = 0x6000;

/** A tensor as JSON: little-endian elements as base64; of a splat only the one. */
function tensorToJson(tensor: HostTensor): { [field: string]: JsonValue } {
  const { dtype, shape, isSplat, elements } = tensor;
  const bytes = new Uint8Array(elements.buffer, elements.byteOffset, elements.byteLength);
  const parts: string[] = [];
  for (let i = 0; i < bytes.length; i += CHUNK_BYTES) {
    // A multiple of three bytes gives no padding, so that the parts can be joined.
    parts.push(btoa(String.fromCharCode(...bytes.subarray(i, i + CHUNK_BYTES))));
  }
  return { dtype, shape, ...(isSplat ? { splat: true } : {}), data: parts.join('') };
}

/** The inverse of {@link tensorToJson}. Throws FormatError. */
function tensorFromJson(json: unknown, where: string): HostTensor {
  if (!isRecord(json)) throw fault(where, 'no object', 'dtype, shape and data');
  const { dtype, shape, splat, data } = json;
  if (typeof dtype !== 'string' || !isDType(dtype)) {
    throw fault(where, JSON.stringify(dtype) ?? 'nothing', 'the name of a dtype');
  }
  if (!Array.isArray(shape) || !shape.every(isDimension)) {
    throw fault(where, JSON.stringify(shape) ?? 'nothing', 'a shape of integers from 0');
  }
  const dims: readonly number[] = shape;
  const count = dims.reduce((product, dim) => product * dim, 1);
  if (!Number.isSafeInteger(count)) throw fault(where, `${count} elements`, 'fewer');
  const isSplat = splat === true;
  const bytes = typeof data === 'string' ? fromBase64(data) : undefined;
  const expected = (isSplat ? 1 : count) * dtypeInfo(dtype).byteLength;
  if (bytes?.length !== expected) {
    const got = bytes === undefined ? 'no base64' : `${bytes.length} bytes`;
    throw fault(where, got, `${expected} bytes as base64`);
  }
  if (!isSplat) return HostTensor.fromBytes(dtype, dims, bytes);
  return new HostTensor(dtype, dims, HostTensor.fromBytes(dtype, [1], bytes).elements, true);
}

function isDimension(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

function fromBase64(data: string): Uint8Array | undefined {
  let text: string;
  try {
    text = atob(data);
  } catch {
    return undefined;
  }
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}

function fault(where: string, got: string, expected: string): FormatError {
  return new FormatError({ where, got, expected });
}

const FORMAT = 'weft-ir';
const VERSION = 1;

/**
 * A module as JSON. Nodes stand in a list, children before parents, and refer to each other by
 * index, so that what is shared stays shared; constants stand in a list of their own, as base64.
 */
interface JsonModule {
  readonly format: typeof FORMAT;
  readonly version: typeof VERSION;
  /** Nodes of global functions by name. */
  readonly functions: readonly (readonly [string, number])[];
  readonly types: readonly number[];
  /** Facts about the program, such as its producer. */
  readonly metadata: Readonly<Record<string, string>>;
  /** Fields by name beside the key of the kind in the field table, such as `expr.call`. */
  readonly nodes: readonly { readonly [field: string]: JsonValue }[];
  /** Constants, by the indices in nodes. */
  readonly tensors: readonly { readonly [field: string]: JsonValue }[];
}

/** The inverse of {@link moduleFromJson}. */
export function moduleToJson(module: Module): JsonModule {
  checkTypeNesting(module, 'moduleToJson');
  const writer = new JsonWriter();
  return {
    format: FORMAT,
    version: VERSION,
    types: [...module.types.values()].map((type) => writer.node('definition', type)),
    functions: [...module.functions].map(([name, fn]) => [name, writer.node('expr', fn)]),
    metadata: module.metadata,
    nodes: writer.nodes,
    tensors: writer.tensors.map(tensorToJson),
  };
}

/**
 * A module from what `JSON.parse` gives. Throws FormatError for anything that does not have the
 * form of a module; whether it is well-typed is not checked.
 */
export function moduleFromJson(json: unknown): Module {
  if (!isRecord(json) || json['format'] !== FORMAT || json['version'] !== VERSION) {
    throw new FormatError({
      where: 'module',
      got: 'other JSON',
      expected: `an object with format "${FORMAT}" and version ${VERSION}`,
    });
  }
  const tensors = listAt(json, 'tensors').map((tensor, i) => tensorFromJson(tensor, `tensor ${i}`));
  const reader = new JsonReader(tensors);
  for (const node of listAt(json, 'nodes')) reader.read(node);
  return {
    types: new Map(
      listAt(json, 'types').map((index) => {
        const type = reader.definition(index);
        return [type.name, type];
      }),
    ),
    functions: new Map(listAt(json, 'functions').map((entry) => reader.globalFunction(entry))),
    metadata: metadataOf(json),
  };
}

class JsonWriter {
  readonly nodes: { [field: string]: JsonValue }[] = [];
  readonly tensors: HostTensor[] = [];
  readonly #indices = new Map<Node, number>();
  readonly #tensorIndices = new Map<HostTensor, number>();
  /** Types are equal by content: each stands in the list once. */
  readonly #typeIndices = new Map<string, number>();

  /** The index of a node, after all that it is made of. Iterative. */
  node(family: Family, root: Node): number {
    const stack: { family: Family; node: Node; isReady: boolean }[] = [
      { family, node: root, isReady: false },
    ];
    for (let top = stack.pop(); top !== undefined; top = stack.pop()) {
      if (this.#indices.has(top.node)) continue;
      if (top.isReady) {
        this.#indices.set(top.node, this.#write(top.family, top.node));
        continue;
      }
      stack.push({ ...top, isReady: true });
      for (const field of fieldsOf(keyOf(top.family, top.node)).toReversed()) {
        if (field.family === undefined) continue;
        for (const node of fieldNodes(top.node, field).toReversed()) {
          stack.push({ family: field.family, node, isReady: false });
        }
      }
    }
    return this.#indexOf(root);
  }

  #write(family: Family, node: Node): number {
    const key = keyOf(family, node);
    const entry: { [field: string]: JsonValue } = { node: key };
    for (const field of fieldsOf(key)) {
      const value = this.#field(node, field);
      if (value !== undefined) entry[field.name] = value;
    }
    const content = family === 'type' ? JSON.stringify(entry) : undefined;
    const known = content === undefined ? undefined : this.#typeIndices.get(content);
    if (known !== undefined) return known;
    if (content !== undefined) this.#typeIndices.set(content, this.nodes.length);
    return this.nodes.push(entry) - 1;
  }

  #field(node: Node, field: Field): JsonValue | undefined {
    const value = fieldValue(node, field);
    if (value === undefined) return undefined;
    if (field.family !== undefined) {
      const indices = fieldNodes(node, field).map((child) => this.#indexOf(child));
      return field.isList ? indices : indices[0];
    }
    if (field.role === 'tensor') return this.#tensor(value as HostTensor);
    return dataToJson(value);
  }

  #tensor(tensor: HostTensor): number {
    const known = this.#tensorIndices.get(tensor);
    if (known !== undefined) return known;
    const index = this.tensors.push(tensor) - 1;
    this.#tensorIndices.set(tensor, index);
    return index;
  }

  #indexOf(node: Node): number {
    const index = this.#indices.get(node);
    if (index === undefined) throw new Error('internal: a node is written before its children');
    return index;
  }
}

class JsonReader {
  readonly #tensors: readonly HostTensor[];
  readonly #nodes: { readonly family: Family; readonly node: Node }[] = [];
  readonly #typeDepths = new Map<Node, number>();

  constructor(tensors: readonly HostTensor[]) {
    this.#tensors = tensors;
  }

  /** Reads the next node, which may refer to those before it. */
  read(json: unknown): void {
    const where = `node ${this.#nodes.length}`;
    const key = isRecord(json) ? json['node'] : undefined;
    if (!isRecord(json) || typeof key !== 'string' || !isKey(key)) {
      const expected = 'an object whose "node" is a kind of node';
      throw new FormatError({ where, got: describeJson(key ?? json), expected });
    }
    const fields = fieldsOf(key);
    const names = new Set(['node', ...fields.map(({ name }) => name)]);
    const unknown = Object.keys(json).find((name) => !names.has(name));
    if (unknown !== undefined) {
      const expected = `the fields of ${key}`;
      throw new FormatError({ where, got: `a field ${JSON.stringify(unknown)}`, expected });
    }
    const [family, kind] = splitKey(key);
    const node: [string, unknown][] = kind === undefined ? [] : [['kind', kind]];
    for (const field of fields) {
      const place = `${where}, ${key}.${field.name}`;
      if (Object.hasOwn(json, field.name)) {
        node.push([field.name, this.#field(json[field.name], field, place)]);
      } else if (!field.isOptional) {
        throw new FormatError({ where: place, got: 'nothing', expected: 'a value' });
      }
    }
    const made = Object.fromEntries(node) as unknown as Node;
    if (family === 'type') this.#measure(made, fields, where);
    this.#nodes.push({ family, node: made });
  }

  /** Refuses a type that is too deep to be walked. */
  #measure(type: Node, fields: readonly Field[], where: string): void {
    const parts = fields.flatMap((field) => fieldNodes(type, field));
    const depth = 1 + Math.max(0, ...parts.map((part) => this.#typeDepths.get(part) ?? 0));
    this.#typeDepths.set(type, depth);
    if (depth <= MAX_TYPE_DEPTH) return;
    const got = `a type more than ${MAX_TYPE_DEPTH} levels deep`;
    throw new FormatError({ where, got, expected: 'one of fewer levels' });
  }

  #field(json: unknown, field: Field, where: string): unknown {
    if (field.family !== undefined) {
      if (!field.isList) return this.#child(json, field, where);
      if (!Array.isArray(json)) throw mismatch(json, where, 'a list of nodes');
      return json.map((item: unknown, i) => this.#child(item, field, `${where}[${i}]`));
    }
    if (field.role === 'tensor') {
      const tensor = typeof json === 'number' ? this.#tensors[json] : undefined;
      if (tensor === undefined) throw mismatch(json, where, 'the index of a tensor');
      return tensor;
    }
    const role: DataRole | undefined = isDataRole(field.role) ? field.role : undefined;
    if (role === undefined) throw new Error(`internal: ${field.role} is no role of data`);
    return dataFromJson(json, role, where);
  }

  #child(json: unknown, { family, binds }: Field, where: string): Node {
    const found = typeof json === 'number' ? this.#nodes[json] : undefined;
    const isOther = binds && !(found !== undefined && isVariable(found.node));
    if (found === undefined || found.family !== family || isOther) {
      const what = binds ? 'a variable' : `a node of ${family}`;
      throw mismatch(json, where, `the index of ${what} before this one`);
    }
    return found.node;
  }

  definition(json: unknown): TypeDefinition {
    const found = typeof json === 'number' ? this.#nodes[json] : undefined;
    if (found?.family !== 'definition') {
      throw mismatch(json, 'types', 'the index of a type definition');
    }
    return found.node as TypeDefinition;
  }

  globalFunction(json: unknown): [string, FunctionExpr] {
    const [name, index]: unknown[] = Array.isArray(json) ? json : [];
    const found = typeof index === 'number' ? this.#nodes[index] : undefined;
    const expr = found?.family === 'expr' ? (found.node as Expr) : undefined;
    if (typeof name !== 'string' || expr?.kind !== 'function') {
      throw mismatch(json, 'functions', 'a name with the index of a function');
    }
    return [name, expr];
  }
}

function isVariable(node: Node): boolean {
  return 'kind' in node && node.kind === 'var';
}

function splitKey(key: string): [Family, string | undefined] {
  const dot = key.indexOf('.');
  const family = (dot < 0 ? key : key.slice(0, dot)) as Family;
  return [family, dot < 0 ? undefined : key.slice(dot + 1)];
}

function listAt(json: Readonly<Record<string, unknown>>, name: string): readonly unknown[] {
  const list = json[name];
  if (!Array.isArray(list)) throw mismatch(list, name, 'a list');
  return list;
}

function metadataOf(json: Readonly<Record<string, unknown>>): Record<string, string> {
  const metadata = json['metadata'];
  if (!isRecord(metadata)) throw mismatch(metadata, 'metadata', 'texts by name');
  return Object.fromEntries(
    Object.entries(metadata).map(([name, value]) => {
      if (typeof value !== 'string') throw mismatch(value, `metadata ${name}`, 'a text');
      return [name, value];
    }),
  );
}

function mismatch(json: unknown, where: string, expected: string): FormatError {
  return new FormatError({ where, got: describeJson(json), expected });
}
