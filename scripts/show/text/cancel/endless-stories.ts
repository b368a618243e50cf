import { STORY_CONFIG } from '../../../../src/frontend/decoders/architectures/testing/story-decoder.ts';
import { storyFolder } from '../../../../src/text/testing/story-file.ts';

const json = (value: object): Uint8Array => new TextEncoder().encode(JSON.stringify(value));

/** The folder of the story model without the token that ends a story: its texts are as long as is asked for. */
export const endlessStories = () =>
  storyFolder({
    'config.json': json({ ...STORY_CONFIG, eos_token_id: [] }),
    'generation_config.json': json({}),
  });
