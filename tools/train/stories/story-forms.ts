import type { StoryWorld } from './story-world.ts';

/** The words of a sentence, and the people that it tells of. */
export interface Slots {
  /** Its words by the places of its form. */
  readonly words: Readonly<Record<string, string>>;
  /** The people that its subject means. */
  readonly people: readonly string[];
}

/** A kind of sentence. */
export interface SentenceForm {
  /** `{subject}`, `{person}` and `{name of a list of words}` stand for words. */
  readonly text: string;
  /** How often it is tried. */
  readonly weight: number;
  /** Returns true if its verb agrees with its subject; absent for forms that always agree. */
  readonly agrees?: (slots: Slots) => boolean;
  /** Returns true if it can be said of a world. */
  readonly holds: (world: StoryWorld, slots: Slots) => boolean;
  /** Changes the world; absent for forms that change nothing. */
  readonly happens?: (world: StoryWorld, slots: Slots) => void;
}

const word = ({ words }: Slots, name: string): string => words[name] ?? '';
const actor = ({ people }: Slots): string | undefined =>
  people.length === 1 ? people[0] : undefined;

/** The sentences of a story. */
export const EVENTS: readonly SentenceForm[] = [
  {
    text: '{subject} {go} to the {place}.',
    weight: 5,
    holds: (world, slots) => slots.people.every((who) => world.place(who) !== word(slots, 'place')),
    happens: (world, slots) => world.move(slots.people, word(slots, 'place')),
  },
  {
    text: '{subject} {take} the {object}.',
    weight: 4,
    holds: (world, slots) =>
      actor(slots) !== undefined && world.holder(word(slots, 'object')) === undefined,
    happens: (world, slots) => world.give(word(slots, 'object'), actor(slots) ?? ''),
  },
  {
    text: '{subject} gave the {object} to {person}.',
    weight: 6,
    holds: (world, slots) => {
      const [giver, person] = [actor(slots), word(slots, 'person')];
      if (giver === undefined || giver === person) return false;
      const [here, there] = [world.place(giver), world.place(person)];
      return world.holder(word(slots, 'object')) === giver && here !== undefined && here === there;
    },
    happens: (world, slots) => world.give(word(slots, 'object'), word(slots, 'person')),
  },
  {
    text: '{subject} put the {object} in the {container}.',
    weight: 4,
    holds: (world, slots) =>
      actor(slots) !== undefined && world.holder(word(slots, 'object')) === actor(slots),
    happens: (world, slots) => world.put(word(slots, 'object'), word(slots, 'container')),
  },
  {
    text: '{subject} {be} {mood}.',
    weight: 1,
    agrees: (slots) => word(slots, 'be') === (slots.people.length > 1 ? 'were' : 'was'),
    holds: () => true,
  },
];

/** A question; its answer is what stands behind the question mark. */
export const QUESTIONS: readonly SentenceForm[] = [
  {
    text: 'Where is {person}? In the {place}.',
    weight: 3,
    holds: (world, slots) => world.place(word(slots, 'person')) === word(slots, 'place'),
  },
  {
    text: 'Where is the {object}? In the {container}.',
    weight: 2,
    holds: (world, slots) => world.container(word(slots, 'object')) === word(slots, 'container'),
  },
  {
    text: 'Who has the {object}? {person}.',
    weight: 3,
    holds: (world, slots) => world.holder(word(slots, 'object')) === word(slots, 'person'),
  },
  {
    text: 'What does {person} have? The {object}.',
    weight: 2,
    holds: (world, slots) => {
      const held = world.held(word(slots, 'person'));
      return held.length === 1 && held[0] === word(slots, 'object');
    },
  },
];
