/** Markdown whose relative links, and those of pictures, lead to the site. */
export function withAddresses(text: string, homepage: string): string;
