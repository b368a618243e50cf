import {
  ggufContents,
  randomDecoder,
} from '../../../src/frontend/decoders/architectures/testing/decoder-files.ts';
import { loadFrom } from '../../../src/frontend/decoders/architectures/testing/decode-runner.ts';
import type { TestedConfig } from '../../../src/frontend/decoders/architectures/testing/reference-decoder.ts';
import { compile } from '../../../src/compiler/compile.ts';
import { FormatError } from '../../../src/core/errors.ts';
import { openGguf } from '../../../src/frontend/decoders/architectures/open-decoder.ts';
import { openChatTemplate } from '../../../src/frontend/decoders/reader/chat-template.ts';
import { readGguf, ggufTypeCode } from '../../../src/frontend/decoders/files/gguf.ts';
import {
  byteLevelVocabulary,
  llamaVocabulary,
} from '../../../src/frontend/decoders/files/testing/gguf-vocabularies.ts';
import {
  type WrittenGguf,
  type WrittenTensor,
  type WrittenValue,
  writeGguf,
} from '../../../src/frontend/decoders/files/testing/gguf-writer.ts';
import { ggufFolder } from '../../../src/frontend/decoders/gguf-folder.ts';
import { Chance } from './chance.ts';
import type { FuzzTarget } from './fuzz-target.ts';
import { changedText } from './json-values.ts';
import { runTokenizer } from './tokenizers.ts';

const SIZES = {
  vocab_size: 90,
  hidden_size: 16,
  intermediate_size: 32,
  num_hidden_layers: 1,
  num_attention_heads: 2,
  num_key_value_heads: 1,
  head_dim: 8,
  rms_norm_eps: 2 ** -17,
  rope_theta: 10_000,
  max_position_embeddings: 64,
  tie_word_embeddings: false,
};
const COUNTS = [0, 1, 2, 3, 7, 64, 255, 2 ** 16, 2 ** 31, 2 ** 32 - 1];
const NUMBERS = [...COUNTS, 0.5, -1.5, 1e30, Number.POSITIVE_INFINITY];
const TYPES = ['F32', 'F16', 'BF16', 'Q8_0', 'Q4_0', 'Q4_K', 'Q6_K'];
/** So often bytes of the file change too, and so often a decoder that is read is compiled. */
const CHANGED_BYTES = 0.05;
const COMPILED = 0.02;

/** GGUF files with changes in their metadata and tensors, whose counts and lengths are right. */
export function ggufFiles(): FuzzTarget {
  const files = corpus();
  const values = files.flatMap(({ metadata = {} }) => Object.entries(metadata));
  return {
    input: async (seed) => {
      const chance = new Chance(seed);
      const { metadata = {}, tensors = [] } = chance.pick(files);
      const file = { metadata: new Map(Object.entries(metadata)), tensors: [...tensors] };
      for (let changes = 1 + chance.below(3); changes > 0; changes--) {
        if (chance.often(0.7)) changeValue(file.metadata, values, chance);
        else changeTensor(file.tensors, chance);
      }
      const bytes = writeGguf({
        metadata: Object.fromEntries(file.metadata),
        tensors: file.tensors,
      });
      // The last byte says whether it is compiled.
      const how = chance.often(COMPILED) ? 1 : 0;
      const whole = chance.often(CHANGED_BYTES) ? chance.mutate(bytes) : bytes;
      return Uint8Array.from([...whole, how]);
    },
    run: async (given) => {
      const bytes = given.subarray(0, -1);
      const head = readGguf(bytes, { fileByteLength: bytes.length });
      if (head.kind !== 'gguf')
        throw new FormatError({ where: 'head', got: 'an end', expected: 'more' });
      const failures: unknown[] = [];
      try {
        const decoder = openGguf(head);
        if (given.at(-1) === 1) compile((await loadFrom(decoder, bytes)).module, { verify: true });
      } catch (error) {
        failures.push(error);
      }
      // The page reads these, whatever the compiler says of the decoder.
      const folder = ggufFolder(head.metadata, {
        architecture: 'llama',
        config: { vocabulary: SIZES.vocab_size, contextLength: 64 },
      });
      if (folder !== undefined) {
        const { tokenizer, tokenizerConfig } = folder;
        await runTokenizer({ tokenizer, config: tokenizerConfig });
        const template = await openChatTemplate(tokenizerConfig, undefined);
        template?.render([{ role: 'user', content: 'Hello' }]);
      }
      for (const failure of failures) throw failure;
    },
  };
}

function changeValue(
  metadata: Map<string, WrittenValue>,
  others: readonly (readonly [string, WrittenValue])[],
  chance: Chance,
): void {
  const key = chance.pick([...metadata.keys()]);
  const value = metadata.get(key) ?? 0;
  switch (chance.below(6)) {
    case 0:
      metadata.delete(key);
      return;
    case 1: {
      const [otherKey, other] = chance.pick(others);
      metadata.set(chance.often(0.5) ? key : otherKey, other);
      return;
    }
    case 2:
      metadata.set(
        key,
        chance.often(0.5) ? chance.pick(COUNTS) : { float32: chance.pick(NUMBERS) },
      );
      return;
    case 3:
      metadata.set(chance.often(0.5) ? changedText(key, chance) : `${key}.x`, value);
      return;
    default:
      metadata.set(key, changedValue(value, chance));
  }
}

function changedValue(value: WrittenValue, chance: Chance): WrittenValue {
  if (typeof value === 'string') return changedText(value, chance);
  if (typeof value === 'boolean') return !value;
  if (typeof value === 'number')
    return Math.min(2 ** 32 - 1, Math.max(0, value + chance.pick([-1, 1, 2, 100])));
  if ('float32' in value) return { float32: chance.pick(NUMBERS) };
  const at = chance.below(value.length + 1);
  if (value instanceof Float32Array || value instanceof Int32Array) {
    const changed = chance.often(0.3) ? value.slice(0, at) : value.slice();
    if (changed.length > 0) changed[chance.below(changed.length)] = chance.pick(NUMBERS);
    return changed;
  }
  if (value instanceof Uint8Array) return chance.mutate(value);
  const texts = [...value];
  const text = texts[at] ?? '';
  if (chance.often(0.2)) texts.splice(at, 1 + chance.below(20));
  else
    texts.splice(
      at,
      1,
      chance.pick([
        changedText(text, chance),
        text + text,
        '',
        'a'.repeat(500),
        chance.pick([...value, '']),
      ]),
    );
  return texts;
}

function changeTensor(tensors: WrittenTensor[], chance: Chance): void {
  const at = chance.below(tensors.length);
  const tensor = tensors[at];
  if (tensor === undefined) return;
  switch (chance.below(5)) {
    case 0:
      tensors.splice(at, 1);
      return;
    case 1:
      tensors[at] = {
        ...tensor,
        name: chance.often(0.5) ? changedText(tensor.name, chance) : chance.pick(tensors).name,
      };
      return;
    case 2:
      tensors[at] = {
        ...tensor,
        type: chance.pick(TYPES.filter((type) => ggufTypeCode(type) >= 0)),
      };
      return;
    case 3:
      tensors[at] = {
        ...tensor,
        shape: tensor.shape
          .map((size) => size + chance.below(3) * chance.pick([-1, 1, 32]))
          .map((size) => Math.max(0, size)),
      };
      return;
    default:
      tensors[at] = {
        ...tensor,
        shape: chance.often(0.5) ? tensor.shape.toReversed() : [...tensor.shape, 1],
      };
  }
}

function corpus(): WrittenGguf[] {
  const template = {
    'tokenizer.chat_template': "{% for m in messages %}{{ m.role ~ ': ' ~ m.content }}{% endfor %}",
  };
  const ofType = (model_type: string): TestedConfig => ({ ...SIZES, model_type });
  return [
    ggufContents(randomDecoder(ofType('llama'), 1), {}, [], {
      ...llamaVocabulary(90),
      ...template,
    }),
    ggufContents(randomDecoder(ofType('qwen2'), 2), {}, [], {
      ...byteLevelVocabulary('qwen2', 90),
      ...template,
    }),
    ggufContents(randomDecoder(ofType('qwen3'), 3), {}, [], {
      ...byteLevelVocabulary('llama-bpe', 90),
      ...template,
    }),
  ];
}
