// A stylesheet is imported for its effect; the build joins all of them.
declare module '*.css';
