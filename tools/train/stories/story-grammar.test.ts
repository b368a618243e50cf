import { describe, expect, test } from 'vitest';
import { seededRandom } from '../../../src/core/random.ts';
import { isHeldOut, StorySource } from './story-batches.ts';
import { parseStory, storyText, writeStory } from './story-grammar.ts';

describe('the grammar of stories', () => {
  test('reads every story that it writes', () => {
    const random = seededRandom(3);
    for (let i = 0; i < 200; i++) {
      const story = writeStory(random, { sentences: 2 + (i % 6), questions: 3 });
      expect(parseStory(storyText(story))).toEqual({ story });
    }
  });

  test('tells of single people by name where stories are to be plain, of as many as it is told', () => {
    const random = seededRandom(4);
    const cast = { people: [3, 4], places: [4, 6], objects: [2, 3] } as const;
    for (let i = 0; i < 100; i++) {
      const story = writeStory(random, { sentences: 5, questions: 6, cast, isPlain: true });
      expect(parseStory(storyText(story))).toEqual({ story });
      expect(story.events).not.toMatch(/\b(He|She|They|and|were)\b/);
      const names = new Set(story.events.match(/\b[A-Z]\w+/g));
      expect(names.size).toBeLessThanOrEqual(4);
    }
  });

  test.each([
    [
      'a verb that does not agree',
      'Mia and Tom was happy.\nWhere is Mia? In the park.',
      'not possible here: "Mia and Tom was happy."',
    ],
    [
      'a pronoun that does not agree',
      'Mia went to the park. He took the ball.\nWhere is Mia? In the park.',
      'not possible here: "He took the ball."',
    ],
    [
      'a pronoun for nobody',
      'She took the ball.\nWho has the ball? Mia.',
      'not possible here: "She took the ball."',
    ],
    [
      'a gift of what one has not',
      'Mia and Tom went to the park. Mia gave the ball to Tom.\nWhere is Mia? In the park.',
      'not possible here: "Mia gave the ball to Tom."',
    ],
    [
      'a gift over a distance',
      'Mia went to the park. She took the cup. Tom went to the barn. Mia gave the cup to Tom.\nWho has the cup? Tom.',
      'not possible here: "Mia gave the cup to Tom."',
    ],
    [
      'a word that there is not',
      'Mia flew to the park.\nWhere is Mia? In the park.',
      'not possible here: "Mia flew to the park."',
    ],
    [
      'a wrong answer',
      'Mia went to the park.\nWhere is Mia? In the barn.',
      'no question, or a wrong answer: "Where is Mia? In the barn."',
    ],
    ['no question', 'Mia went to the park.', 'no question'],
  ])('refuses %s', (_, text, reason) => {
    expect(parseStory(text)).toEqual({ reason });
  });

  test('reads what cannot be as grammar, if asked', () => {
    const impossible = 'Mia gave the ball to Tom. She was sad.\nWhere is Mia? In the barn.';
    expect(parseStory(impossible, { world: false }).reason).toBeUndefined();
    const wrong = 'Mia gave the ball to Tom. He were sad.\nWhere is Mia? In the barn.';
    expect(parseStory(wrong, { world: false }).reason).toBe('not possible here: "He were sad."');
  });

  test('keeps what happened last', () => {
    const events =
      'Tom and Mia went to the barn. Tom took the cup. He gave the cup to Mia. Mia put the cup in the box. Mia ran to the shop.';
    for (const answer of [
      'Where is the cup? In the box.',
      'Where is Mia? In the shop.',
      'Where is Tom? In the barn.',
    ]) {
      expect(parseStory(`${events}\n${answer}`).reason).toBeUndefined();
    }
  });

  test('gives the tests the same stories whatever training asks for', () => {
    expect(new StorySource(5, 'held out').next().events).toBe(
      'Anna grabbed the pear. She grabbed the coin. Tom and Ben hurried to the kitchen. Tom ran to the library.',
    );
    const mix = { share: 1, sentences: [3, 3], isPlain: true } as const;
    const source = new StorySource(5, 'training', mix);
    for (let i = 0; i < 20; i++) expect(source.next().events.split('. ').length).toBe(3);
  });

  test('tells training and test stories apart by what happens in them', () => {
    const [training, heldOut] = [new StorySource(1, 'training'), new StorySource(1, 'held out')];
    for (let i = 0; i < 20; i++) {
      expect(isHeldOut(training.next())).toBe(false);
      expect(isHeldOut({ ...heldOut.next(), questions: [] })).toBe(true);
    }
  });
});
