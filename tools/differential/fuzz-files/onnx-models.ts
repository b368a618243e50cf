import { compileOnnx } from '../../../src/frontend/index.ts';
import { CASES } from '../compare-onnx/cases/index.ts';
import { Draw } from '../compare-onnx/draw.ts';
import { MODELS } from '../compare-onnx/models/index.ts';
import { singleNodeModel } from '../compare-onnx/node-case.ts';
import { Chance } from './chance.ts';
import type { FuzzTarget } from './fuzz-target.ts';
import {
  type Field,
  type Message,
  messagesOf,
  parseMessage,
  writeMessage,
} from './message-tree.ts';
import { runExecutable } from './run-executable.ts';

/** Larger ones compile slowly, and add nothing. */
const MAX_BYTE_LENGTH = 6000;
const MAX_INPUT_BYTE_LENGTH = 1 << 16;
/** So often a file that compiles is run as well. */
const RUN = 0.3;
const NUMBERS = [0n, 1n, 2n, 3n, 7n, 11n, 16n, 22n, 255n, 2n ** 31n, 2n ** 32n - 1n, 2n ** 53n];
const FAR_NUMBERS = [...NUMBERS, 2n ** 63n, 2n ** 63n - 1n, 2n ** 64n - 1n, 2n ** 64n - 2n];

/** ONNX files with changes in their messages, whose lengths are right. */
export function onnxModels(): FuzzTarget {
  const models = corpus();
  const donors = models.flatMap(messagesOf);
  const byType = new Map<string, Message[]>();
  for (const donor of donors) {
    const known = byType.get(donor.type);
    if (known === undefined) byType.set(donor.type, [donor]);
    else known.push(donor);
  }
  const texts = donors.flatMap(({ type, fields }) =>
    type === 'Node' || type === 'Attribute'
      ? fields.flatMap((field) => (field.kind === 'bytes' ? [field.bytes] : []))
      : [],
  );
  return {
    input: async (seed) => {
      const chance = new Chance(seed);
      const model = structuredClone(chance.pick(models));
      for (let changes = 1 + chance.below(3); changes > 0; changes--) {
        mutateMessage(chance.pick(messagesOf(model)), { chance, byType, texts });
      }
      const bytes = writeMessage(model);
      const whole = chance.often(0.02) ? chance.mutate(bytes) : bytes;
      return whole.subarray(0, MAX_INPUT_BYTE_LENGTH);
    },
    run: async (bytes) => {
      const executable = compileOnnx(bytes);
      // By its contents, so that an input does the same each time.
      if (new Chance(bytes.length).often(RUN)) await runExecutable(executable.toBytes());
    },
  };
}

interface Sources {
  readonly chance: Chance;
  readonly byType: ReadonlyMap<string, readonly Message[]>;
  readonly texts: readonly Uint8Array[];
}

function mutateMessage(message: Message, sources: Sources): void {
  const { chance, byType } = sources;
  const { fields } = message;
  const at = chance.below(fields.length);
  const field = fields[at];
  const donor = chance.pick(byType.get(message.type) ?? [message]);
  const given = donor.fields.length > 0 ? structuredClone(chance.pick(donor.fields)) : undefined;
  if (field === undefined) {
    if (given !== undefined) fields.push(given);
    return;
  }
  switch (chance.below(8)) {
    case 0:
      fields.splice(at, 1);
      return;
    case 1:
      fields.splice(chance.below(fields.length), 0, structuredClone(field));
      return;
    case 2:
      fields.splice(chance.below(fields.length), 0, ...fields.splice(at, 1));
      return;
    case 3:
      if (given !== undefined) fields.splice(at, 0, given);
      return;
    case 4:
      if (given !== undefined) fields[at] = given;
      return;
    default:
      mutateField(field, sources);
  }
}

function mutateField(field: Field, { chance, byType, texts }: Sources): void {
  if (field.kind === 'varint') {
    field.value = chance.often(0.7)
      ? chance.pick(FAR_NUMBERS)
      : BigInt.asUintN(64, field.value + (chance.often(0.5) ? 1n : -1n));
  } else if (field.kind === 'message') {
    field.message = structuredClone(chance.pick(byType.get(field.message.type) ?? []));
  } else if (field.kind === 'bytes' && chance.often(0.4)) {
    field.bytes = chance.pick(texts);
  } else {
    const isFixed = field.kind === 'fixed';
    const changed = chance.mutate(field.bytes);
    if (!isFixed || changed.length === field.bytes.length) field.bytes = changed;
  }
}

/** Models of one node for each operator, and small models of the idioms of exporters. */
function corpus(): Message[] {
  const nodes = Object.entries(CASES).map(([name, generate]) => {
    const draw = new Draw(1, name);
    return singleNodeModel(generate(draw), draw).bytes;
  });
  const models = Object.entries(MODELS).map(
    ([name, generate]) => generate(new Draw(1, name)).bytes,
  );
  return [...nodes, ...models]
    .filter(({ byteLength }) => byteLength <= MAX_BYTE_LENGTH)
    .map((bytes) => parseMessage(bytes, 'Model'));
}
