export { type CachedFile, type ModelCache, modelCache } from '../downloads/model-cache.ts';
export {
  type ChatChoice,
  type ChatCompletion,
  type ChatCompletionChunk,
  type ChatCompletionRequest,
  ChatCompletions,
  type ChatFinishReason,
  type ChatUsage,
  type ResponseFormat,
  type TokenLogprob,
} from './chat/chat-completions.ts';
export type { ChatMessage, Tool, ToolCall } from './reader/chat-template.ts';
export type {
  BatchOptions,
  ChatOptions,
  GenerateOptions,
  ResumeTextOptions,
} from './generate-options.ts';
export type { FinishReason, GeneratedToken } from './generation.ts';
export type { ReadFile } from './load/model-folder.ts';
export type { SamplingOptions } from './sampling.ts';
export type { DraftModel } from './speculative-steps.ts';
export type { TokenConstraint } from './steps.ts';
export type { BatchPiece, TextBatch } from './text-batch.ts';
export { Generation, type Usage } from './text-generation.ts';
export type { TextLoadOptions } from './load/load-options.ts';
export { type Chat, TextModel } from './text-model.ts';
export type { TextTokenizer } from './load/remote-tokenizer.ts';
