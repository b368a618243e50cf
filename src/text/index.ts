export { type ModelCache, modelCache } from '../downloads/model-cache.ts';
export type { ChatMessage } from './reader/chat-template.ts';
export type {
  BatchOptions,
  ChatOptions,
  GenerateOptions,
  ResumeTextOptions,
} from './generate-options.ts';
export type { ReadFile } from './load/model-folder.ts';
export type { TokenConstraint } from './steps.ts';
export type { TextBatch } from './text-batch.ts';
export { Generation } from './text-generation.ts';
export type { TextLoadOptions } from './load/load-options.ts';
export { type Chat, TextModel } from './text-model.ts';
export type { TextTokenizer } from './load/remote-tokenizer.ts';
