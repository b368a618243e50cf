export { type ModelCache, modelCache } from '../downloads/model-cache.ts';
export type {
  ChatCompletion,
  ChatCompletionChunk,
  ChatCompletionRequest,
} from './chat/chat-completions.ts';
export type { ChatMessage, Tool } from '../frontend/decoders/reader/chat-template.ts';
export type {
  BatchOptions,
  ChatOptions,
  GenerateOptions,
  ResumeTextOptions,
} from './generate-options.ts';
export { type FinishReason, type GeneratedToken, Generation } from './generation.ts';
export type { ReadFile } from '../frontend/decoders/reader/model-folder.ts';
export type { TokenConstraint } from './steps.ts';
export type { TextBatch } from './text-batch.ts';
export type { TextLoadOptions } from './load/load-options.ts';
export { type Chat, TextModel } from './text-model.ts';
export type { TextTokenizer } from './load/remote-tokenizer.ts';
