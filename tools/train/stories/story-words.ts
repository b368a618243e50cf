/** Every word of the stories that a form has a place for, by the place's name. */
export const STORY_WORDS = {
  place: [
    'kitchen',
    'garden',
    'park',
    'school',
    'forest',
    'attic',
    'barn',
    'shop',
    'library',
    'market',
    'castle',
  ],
  object: [
    'ball',
    'book',
    'cup',
    'apple',
    'kite',
    'drum',
    'key',
    'hat',
    'coin',
    'lamp',
    'pear',
    'flower',
    'stone',
    'doll',
    'spoon',
    'rope',
  ],
  container: ['box', 'basket', 'bag', 'drawer', 'chest', 'bucket', 'jar', 'sack'],
  mood: ['happy', 'tired', 'hungry', 'cold', 'proud', 'sad', 'calm', 'sleepy'],
  go: ['went', 'ran', 'walked', 'hurried'],
  take: ['took', 'found', 'grabbed', 'bought'],
  be: ['was', 'were'],
} as const;

type Pronoun = 'He' | 'She' | 'They';

const HE = ['Tom', 'Ben', 'Max', 'Leo', 'Sam', 'Jack', 'Finn', 'Paul'] as const;
const SHE = ['Mia', 'Anna', 'Lily', 'Zoe', 'Emma', 'Rosa', 'Nora', 'Ella'] as const;
export const NAMES: readonly string[] = [...HE, ...SHE];

/** The pronoun that stands for people. */
export function pronounOf(people: readonly string[]): Pronoun {
  if (people.length > 1) return 'They';
  return HE.some((name) => name === people[0]) ? 'He' : 'She';
}
