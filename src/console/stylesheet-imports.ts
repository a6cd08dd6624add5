// Lets modules import stylesheets for their side effect. The build bundles all of them.
declare module '*.css';
