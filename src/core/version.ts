/** The version of the package, as in package.json. Page and worker tell each other. */
export const VERSION = '0.1.0';
