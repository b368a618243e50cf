import { type GenerateOptions, TextModel, type TextLoadOptions } from '../../text/index.ts';

export const openStories = (options?: TextLoadOptions) =>
  TextModel.load('./models/stories/', options);

/** Pieces of text: `for await (const piece of writeStory(stories, 'Mia went', {})) show(piece)`. */
export const writeStory = (stories: TextModel, begin: string, options: GenerateOptions) =>
  stories.generate(begin, options);
