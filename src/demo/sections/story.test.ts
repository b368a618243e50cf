import { expect, test } from 'vitest';
import { readMovedStory } from './story.ts';

const MOVED = {
  story: { prompt: 'Mia went', written: ' to the park.', seed: 4, isOver: false },
  temperature: '0.8',
  topP: '1',
  isJson: false,
};

test('a story of another page is read as it was', () => {
  expect(readMovedStory(JSON.stringify(MOVED))).toEqual(MOVED);
});

test.each([
  'no JSON',
  '[]',
  '{}',
  JSON.stringify({ ...MOVED, story: null }),
  JSON.stringify({ ...MOVED, topP: 1 }),
  JSON.stringify({ ...MOVED, story: { ...MOVED.story, seed: 'x' } }),
])('what is no story is refused: %s', (note) => {
  expect(() => readMovedStory(note)).toThrow('a story of another page: got');
});
